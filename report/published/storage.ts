/**
 * Study 002: MariaDB on bare metal, VM and LXC, with ext4 and ZFS, with and without SLOG. Its figures are only in
 * charts.
 */
export const storageStudy = {
  id: "002",
  source: "blog post on MariaDB on bare metal, Proxmox VM and LXC with ext4 and ZFS",
  hardware:
    "HP Gen8, two 8-core E5 CPUs, 128 GB RAM; OS and MySQL on Samsung 860 500 GB SSDs; SATA SLOG: 64 GB partitions of a second pair of Samsung 860; NVMe SLOG: 64 GB partitions of a pair of Samsung 970 250 GB",
  versions: "sysbench, MariaDB, Debian and Proxmox: versions not stated",
  howMeasured:
    "10 sysbench tests on tables of 1,000,000 rows, the same MariaDB configuration file in every configuration (tuned for hundreds of WordPress databases); queries per second and mean latency",
  rowsPerTable: 1_000_000,
  tests: 10,
  configurationsAnnounced: 7,
  bareMetal: { cores: 16, memoryGb: 128, disks: "RAID-1 by the HP 420i controller" },
  guests: { cores: 12, memoryGb: 96, disks: "ZFS mirror, disks passed through as JBOD" },
  configurations: [
    { id: "A", kind: "bare metal", fileSystem: "ext4", slog: null, controller: "HP 420i" },
    { id: "B", kind: "VM", fileSystem: "ext4 on a ZFS zvol", slog: "none", controller: "HP 420i" },
    { id: "C", kind: "VM", fileSystem: "ext4 on a ZFS zvol", slog: "SATA", controller: "HP 420i" },
    { id: "D", kind: "VM", fileSystem: "ext4 on a ZFS zvol", slog: "NVMe", controller: "HP 420i" },
    { id: "E", kind: "LXC", fileSystem: "ZFS", slog: "none", controller: "HP 420i" },
    { id: "F", kind: "LXC", fileSystem: "ZFS", slog: "SATA", controller: "HP 420i" },
    { id: "G", kind: "LXC", fileSystem: "ZFS", slog: "NVMe", controller: "HP 420i" },
    { id: "H", kind: "LXC", fileSystem: "ZFS", slog: "none", controller: "LSI HBA" },
    { id: "I", kind: "LXC", fileSystem: "ZFS", slog: "SATA", controller: "LSI HBA" },
    { id: "J", kind: "LXC", fileSystem: "ZFS", slog: "NVMe", controller: "LSI HBA" },
  ],
  figures: "none: the numbers of the charts are not in the text",
} as const;
