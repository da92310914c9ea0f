/** What an engine or a proxy brings to a node: taken away again from a host that is somebody else's. */
export interface Installed {
  readonly units: readonly string[];
  /** Beginnings of the names of its packages: "mariadb-". */
  readonly packages: readonly string[];
  /** That the project writes. */
  readonly files: readonly string[];
  /** Of packages, that the project puts files in. */
  readonly directories: readonly string[];
}
