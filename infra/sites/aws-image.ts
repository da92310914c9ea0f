import type { Architecture } from "../config/aws-check.ts";

/** Debian's own account on AWS, and how it names its images of Debian 12. */
export const DEBIAN_OWNER = "136693071363";
export const debianName = (architecture: Architecture): string =>
  `debian-12-${architecture === "arm64" ? "arm64" : "amd64"}-*`;
