/** How MaxScale gets onto a node: the vendor's repository, a package, or a tree built from source. Bash, pure text. */
import { ensurePackages, installPackage, PACKAGES_FUNCTION } from "../packages.ts";
import { writeFile } from "../scripts.ts";

/** Where the programs of this proxy stand on the node. */
export const LIB_DIR = "/usr/local/lib/meshbench";
export const LAUNCHER = `${LIB_DIR}/maxscale`;

export type MaxscaleSource =
  | { kind: "vendor"; version: string }
  | { kind: "deb"; path: string; version: string }
  | { kind: "tree"; path: string; sha256: string; version: string };

/** Shared libraries of a MaxScale that was built on Debian 12; a vendor's package brings its own list. */
const TREE_PACKAGES = [
  "zstd",
  "curl",
  "libcurl4",
  "libpam0g",
  "libpcre2-8-0",
  "libjansson4",
  "libmicrohttpd12",
  "libodbc2",
  "libssh-4",
  "libzstd1",
  "libuuid1",
  "libsqlite3-0",
  "libssl3",
];

/** The vendor's own set-up of its package source; --mariadb-maxscale-version takes an exact version. */
const REPOSITORY_SETUP = "https://r.mariadb.com/downloads/mariadb_repo_setup";

/** Idempotent. Leaves LAUNCHER, which starts that MaxScale with whatever arguments it gets, and nothing running. */
export function installScript(source: MaxscaleSource): string {
  return `# The package would start a service of its own with the vendor's example configuration.
systemctl mask --quiet maxscale.service 2>/dev/null || true
changed=0
fail() { echo "$(hostname): $*" >&2; exit 1; }
${source.kind === "vendor" ? vendor(source.version) : source.kind === "deb" ? deb(source.path) : tree(source.path, source.sha256)}
getent passwd maxscale >/dev/null || useradd --system --user-group --no-create-home --home-dir /var/lib/maxscale --shell /usr/sbin/nologin maxscale
for dir in /var/lib/maxscale /var/cache/maxscale /var/log/maxscale /etc/maxscale.modules.d; do install -d -m 0750 -o maxscale -g maxscale "$dir"; done
installed=$(${LAUNCHER} --version 2>&1 | sed -n 's/^MaxScale \\([0-9.]*\\).*/\\1/p')
case "$installed" in
  ${source.kind === "vendor" ? source.version : `${release(source.version)}.*`}) ;;
  "") fail "the installed MaxScale does not start: $(${LAUNCHER} --version 2>&1 | tail -n 1)" ;;
  *) fail "MaxScale $installed is installed, meshbench:proxy.version asks for ${source.version}" ;;
esac`;
}

const release = (version: string): string => version.split(".").slice(0, 2).join(".");

const launcher = (text: string): string => writeFile(LAUNCHER, `#!/bin/bash\n${text}\n`, "0755");

function vendor(version: string): string {
  return `${ensurePackages(["curl", "ca-certificates"])}
if ! dpkg-query -W -f='\${Version}' maxscale 2>/dev/null | grep -q '^${version.replaceAll(".", "\\.")}'; then
  setup=$(mktemp); trap 'rm -f "$setup"' EXIT
  curl -fsSL --retry 3 --connect-timeout 10 --max-time 60 -o "$setup" ${REPOSITORY_SETUP} || fail "the vendor's package source cannot be reached; give MaxScale as meshbench:proxy.archive"
  ${ensurePackages(["gnupg", "apt-transport-https"]).replaceAll("\n", "\n  ")}
  ${PACKAGES_FUNCTION.replaceAll("\n", "\n  ")}
  packages bash "$setup" --mariadb-maxscale-version=${version} --skip-server --skip-tools || fail "the vendor's set-up of its package source failed"
  ${installPackage(`'maxscale=${version}*'`, "--allow-downgrades", `MaxScale ${version} is not in the vendor's package source`)}
fi
${launcher('exec /usr/bin/maxscale "$@"')}`;
}

function deb(path: string): string {
  return `${ensurePackages(["curl"])}
if [ "$(dpkg-query -W -f='\${Version}' maxscale 2>/dev/null)" != "$(dpkg-deb -f ${path} Version)" ]; then
  needs=$(dpkg-deb -f ${path} Depends | grep -oE 'libc6 \\(>= [0-9.]+' | sed 's/.* //' | sort -V | tail -n 1 || true)
  has=$(dpkg-query -W -f='\${Version}' libc6)
  [ -z "$needs" ] || dpkg --compare-versions "$has" ge "$needs" || fail "meshbench:proxy.archive: a package that needs glibc $needs; expected one built for Debian $(cut -d . -f 1 /etc/debian_version), which has \${has%%-*}"
  ${PACKAGES_FUNCTION.replaceAll("\n", "\n  ")}
  ${installPackage(path, "--no-install-recommends --allow-downgrades", "the package of meshbench:proxy.archive could not be installed")}
fi
${launcher('exec /usr/bin/maxscale "$@"')}`;
}

/** The tree may have been built for any prefix: every directory that it is asked for is given on the command line. */
function tree(path: string, sha256: string): string {
  const home = `/opt/meshbench/maxscale-${sha256.slice(0, 12)}`;
  return `${ensurePackages(TREE_PACKAGES)}
if [ ! -d ${home} ]; then
  rm -rf ${home}.new; install -d -m 0755 ${home}.new
  tar --zstd --no-same-owner -xf ${path} -C ${home}.new || fail "meshbench:proxy.archive: not a tar archive packed with zstd; expected a .tar.zst of MaxScale"
  mv ${home}.new ${home}
fi
binary=$(find ${home} -type f -name maxscale -path '*/bin/*' -perm -u+x | head -n 1)
[ -n "$binary" ] || fail "meshbench:proxy.archive: no bin/maxscale in it; expected a tree of MaxScale"
common=$(find ${home} -name 'libmaxscale-common.so*' | head -n 1)
[ -n "$common" ] || fail "meshbench:proxy.archive: no libmaxscale-common.so in it; expected a tree of MaxScale"
libraries=$(dirname "$common")
ln -sfn "$(dirname "$(dirname "$binary")")" ${home}/.prefix; ln -sfn "$libraries" ${home}/.libraries
absent=$(LD_LIBRARY_PATH=$libraries ldd "$binary" "$common" | awk '/not found/ { print $1 }' | sort -u | paste -sd ' ')
[ -z "$absent" ] || fail "the MaxScale of meshbench:proxy.archive needs libraries that are not here: $absent"
${launcher(`here=${home}
LD_LIBRARY_PATH=$here/.libraries exec "$here/.prefix/bin/maxscale" --libdir="$here/.libraries" --connector_plugindir="$here/.libraries/plugin" \\
  --sharedir="$here/.prefix/share/maxscale" --execdir="$here/.prefix/bin" "$@"`)}`;
}
