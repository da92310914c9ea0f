import type { Architecture } from "../../config/sites/aws-check.ts";
import type { DebianRelease } from "../../config/sites/common.ts";

/** Debian's own account on AWS, and how it names its images of a release. */
export const DEBIAN_OWNER = "136693071363";
export const debianName = (release: DebianRelease, architecture: Architecture): string =>
  `debian-${release}-${architecture === "arm64" ? "arm64" : "amd64"}-*`;
