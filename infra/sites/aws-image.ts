/** Debian's own account on AWS, and how it names its images of Debian 12 for x86-64. */
export const DEBIAN_OWNER = "136693071363";
export const DEBIAN_NAME = "debian-12-amd64-*";
