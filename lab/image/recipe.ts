import type { Debian } from "./mirror.ts";

/** What is in a node's image. Any change here makes another image: its directory is named by this recipe's hash. */

/** The system. */
const SYSTEM = [
  "systemd",
  "systemd-sysv",
  "dbus",
  "openssh-server",
  "sudo",
  "procps",
  "ca-certificates",
  "cloud-init",
  "python3",
  "iproute2",
];

const NETWORK = ["iputils-ping", "iptables", "nftables", "iperf3", "wireguard-tools", "wireguard-go", "curl", "socat"];

/** What a Node.js binary is linked against. */
const NODE_LIBRARIES = ["libstdc++6", "libatomic1"];

export const PACKAGES = [
  ...SYSTEM,
  ...NETWORK,
  // Databases, their state transfers and clients.
  "mariadb-server",
  "galera-4",
  "mariadb-backup",
  "rsync",
  "postgresql",
  "zstd",
  "xz-utils",
  // Proxies and load.
  "haproxy",
  "sysbench",
  // What a MaxScale built from source is linked against.
  "libcurl4",
  "libpcre2-8-0",
  "libjansson4",
  "libmicrohttpd12",
  "libodbc2",
  "libssh-4",
  "libzstd1",
  "libuuid1",
  "libsqlite3-0",
  "libpam0g",
  "libssl3",
  "libodbcinst2",
  ...NODE_LIBRARIES,
];

/** Libraries that Debian 13 calls otherwise: the transition to 64-bit times renamed those that it touched. */
const IN_DEBIAN_13: Record<string, string> = {
  libcurl4: "libcurl4t64",
  libmicrohttpd12: "libmicrohttpd12t64",
  libssl3: "libssl3t64",
};

/** The unstable suite is taken for MySQL, which keeps MariaDB out, and for nothing else. */
const SID_PACKAGES = [...SYSTEM, ...NETWORK, "mysql-server", "zstd", "xz-utils", "haproxy", ...NODE_LIBRARIES];

const PATRONI_PACKAGES = [
  ...SYSTEM,
  ...NETWORK,
  "postgresql",
  "patroni",
  "python3-etcd",
  "etcd-server",
  "etcd-client",
  "zstd",
  "xz-utils",
  "haproxy",
  ...NODE_LIBRARIES,
];

export function packagesOf(debian: Debian): string[] {
  if (debian === "sid") return SID_PACKAGES;
  if (debian === "patroni") return PATRONI_PACKAGES;
  return debian === 12 ? PACKAGES : PACKAGES.map((name) => IN_DEBIAN_13[name] ?? name);
}

/**
 * As little as a cloud's image of Debian has. Everything that a stack needs beyond it has to be installed by the stack.
 */
export const BARE_PACKAGES = [...SYSTEM, "apt-utils", "unattended-upgrades"];

/** What bare nodes can install, with all that it needs: nodes reach no package archive but this one. */
export const ARCHIVE_PACKAGES = [
  "iputils-ping",
  "iperf3",
  "wireguard-tools",
  "wireguard-go",
  "curl",
  "gnupg",
  "apt-transport-https",
  "socat",
  "mariadb-server",
  "galera-4",
  "mariadb-backup",
  "rsync",
  "postgresql",
  "haproxy",
  "xfsprogs",
  "zstd",
  "xz-utils",
  "libatomic1",
];

/** Where bare nodes see the archive. */
export const ARCHIVE_PATH = "/srv/package-archive";

/** Left out of every package: nobody reads manuals on a node. */
export const DPKG_OPTIONS = [
  "force-unsafe-io",
  "path-exclude=/usr/share/doc/*",
  "path-exclude=/usr/share/man/*",
  "path-exclude=/usr/share/locale/*",
];

/**
 * Installed, and started by whoever wants them. The two sockets would hold port 3306 with no server behind it.
 */
const DISABLED_UNITS = [
  "mariadb.service",
  "mariadb.socket",
  "mariadb-extra.socket",
  "postgresql.service",
  "haproxy.service",
  "iperf3.service",
  "nftables.service",
  "rsync.service",
];

const MORE_DISABLED: Partial<Record<Debian, string[]>> = {
  sid: ["mysql.service"],
  patroni: ["patroni.service", "etcd.service"],
};

export const disabledUnitsOf = (debian: Debian): string[] => [...DISABLED_UNITS, ...(MORE_DISABLED[debian] ?? [])];

/**
 * MySQL's package makes a data directory with a server's UUID and keys in it. Replication takes two servers with one UUID for
 * the same; a server that finds none of them makes its own.
 */
export const IDENTITY_FILES = [
  "auto.cnf",
  ...["ca-key", "ca", "client-cert", "client-key", "private_key", "public_key", "server-cert", "server-key"].map(
    (name) => `${name}.pem`,
  ),
].map((name) => `var/lib/mysql/${name}`);

/** Of no use in a node without a console, a network manager or hardware, and slow to start. */
export const MASKED_UNITS = [
  "systemd-logind.service",
  "systemd-networkd.service",
  "systemd-networkd.socket",
  "systemd-networkd-wait-online.service",
  "systemd-resolved.service",
  "systemd-timesyncd.service",
  "console-getty.service",
  "getty.target",
  "getty-static.service",
  "apt-daily.timer",
  "apt-daily-upgrade.timer",
  "dpkg-db-backup.timer",
  "e2scrub_all.timer",
  "e2scrub_reap.service",
  "fstrim.timer",
  "motd-news.timer",
  "cloud-init-hotplugd.socket",
  "systemd-update-utmp.service",
  "systemd-pcrphase.service",
  "systemd-pcrphase-sysinit.service",
  "modprobe@.service",
];

/** In a bare node the distribution's timers run as in a cloud's. */
export const BARE_MASKED_UNITS = MASKED_UNITS.filter((unit) => !unit.startsWith("apt-daily"));

/** How long the first apt-daily of a bare node holds apt's and dpkg's locks, s. */
const HOLD_SECONDS = 40;

/**
 * Files of a bare image. Its apt-daily is a stand-in: what the real one does with a slow archive - holding apt's locks for
 * minutes after the first boot, and going on when it is told to stop - it does at every boot and for a known time.
 */
export const BARE_FILES: Record<string, string> = {
  "etc/apt/sources.list": `deb [trusted=yes] file:${ARCHIVE_PATH} ./\n`,
  "etc/systemd/system/apt-daily.timer.d/10-lab.conf": `[Timer]
OnCalendar=
OnBootSec=1s
RandomizedDelaySec=0
AccuracySec=1s
Persistent=false
`,
  "etc/systemd/system/apt-daily.service.d/10-lab.conf": `[Service]
ExecStartPre=
ExecStart=
ExecStart=/usr/bin/python3 /usr/local/lib/hold-apt-locks
KillMode=process
TimeoutStopSec=900
`,
  "usr/local/lib/hold-apt-locks": `import fcntl, os, signal, time

signal.signal(signal.SIGTERM, signal.SIG_IGN)
os.makedirs("/var/lib/apt/lists", exist_ok=True)
held = []
for path in ("/var/lib/apt/lists/lock", "/var/lib/dpkg/lock-frontend", "/var/lib/dpkg/lock"):
    held.append(open(path, "w"))
    fcntl.lockf(held[-1], fcntl.LOCK_EX)
time.sleep(${HOLD_SECONDS})
`,
  "etc/systemd/journald.conf.d/10-lab.conf": "[Journal]\nStorage=volatile\nRuntimeMaxUse=16M\nForwardToConsole=no\n",
  "etc/systemd/system.conf.d/10-lab.conf": "[Manager]\nDefaultTimeoutStopSec=20s\nStatusUnitFormat=name\n",
  "etc/cloud/cloud.cfg.d/90-lab.cfg": `datasource_list: [NoCloud]
network: {config: disabled}
# The locales package is not there, and C.UTF-8 needs none.
locale: C.UTF-8
`,
  "etc/default/locale": "LANG=C.UTF-8\n",
  // No name server: look-ups fail at once instead of waiting.
  "etc/resolv.conf": "",
  "etc/fstab": "",
};

/** Files of the image, by path. */
export const FILES: Record<string, string> = {
  "etc/ssh/sshd_config.d/10-lab.conf": `# Reverse look-ups wait for a name server that is not there.
UseDNS no
PasswordAuthentication no
KbdInteractiveAuthentication no
PermitRootLogin prohibit-password
HostKey /etc/ssh/ssh_host_ed25519_key
AcceptEnv MESHBENCH_*
# Many steps reach a new node at once.
MaxStartups 100:30:200
MaxSessions 100
`,
  "etc/systemd/journald.conf.d/10-lab.conf": "[Journal]\nStorage=volatile\nRuntimeMaxUse=16M\nForwardToConsole=no\n",
  "etc/systemd/system.conf.d/10-lab.conf": "[Manager]\nDefaultTimeoutStopSec=20s\nStatusUnitFormat=name\n",
  "etc/cloud/cloud.cfg.d/90-lab.cfg": `datasource_list: [NoCloud]
network: {config: disabled}
# The locales package is not there, and C.UTF-8 needs none.
locale: C.UTF-8
# The node has its host key before cloud-init runs; user data may replace it (ssh_keys).
ssh_deletekeys: false
ssh_genkeytypes: [ed25519]
`,
  "etc/default/locale": "LANG=C.UTF-8\n",
  // No name server: look-ups fail at once instead of waiting.
  "etc/resolv.conf": "",
  "etc/fstab": "",
};
