/** How MySQL gets onto a node. Bash, pure text. */
import { ensurePackages, installPackage, PACKAGES_FUNCTION } from "../../packages.ts";
import { AFTER_MESH, writeFile } from "../../scripts.ts";
import { CONF_PATH } from "./facts.ts";

/** The vendor's package source, and the key that it is signed with, which is asked for by its fingerprint. */
const REPOSITORY = "https://repo.mysql.com";
const KEY = "RPM-GPG-KEY-mysql-2023";
const FINGERPRINT = "BCA43417C3B485DD128EC6D4B7B3B788A8D3785C";
const KEYRING = "/etc/apt/keyrings/meshbench-mysql.gpg";

/** Long-term releases have a component of their own; all others are in one. */
export const componentOf = (version: string): string => {
  const series = version.split(".").slice(0, 2).join(".");
  return series === "8.0" ? "mysql-8.0" : ["8.4", "9.7"].includes(series) ? `mysql-${series}-lts` : "mysql-innovation";
};

/** Idempotent. Leaves the packages, and whatever they have started. */
function install(version: string): string {
  if (version === "debian") return ensurePackages(["mysql-server"]);
  return `if ! dpkg-query -W -f='\${Version}' mysql-community-server 2>/dev/null | grep -q '^${version.replaceAll(".", "\\.")}-'; then
  ${ensurePackages(["curl", "gnupg", "ca-certificates"]).replaceAll("\n", "\n  ")}
  key=$(mktemp); trap 'rm -f "$key"' EXIT
  curl -fsSL --retry 3 --connect-timeout 10 --max-time 60 -o "$key" ${REPOSITORY}/${KEY} || fail "the vendor's package source cannot be reached"
  gpg --batch --show-keys --with-colons "$key" 2>/dev/null | grep -q '^fpr:*${FINGERPRINT}:$' || fail "the key of the vendor's package source is not the one that is expected (${FINGERPRINT})"
  install -d -m 0755 "$(dirname ${KEYRING})"
  gpg --batch --yes --dearmor -o ${KEYRING} "$key"
  release=$(. /etc/os-release; echo "$VERSION_CODENAME")
  echo "deb [signed-by=${KEYRING}] ${REPOSITORY}/apt/debian/ $release ${componentOf(version)}" > /etc/apt/sources.list.d/meshbench-mysql.list
  ${PACKAGES_FUNCTION.replaceAll("\n", "\n  ")}
  packages apt-get -q update || fail "the vendor's package source for MySQL ${version} cannot be read"
  exact=$(apt-cache madison mysql-community-server | awk '{ print $3 }' | grep '^${version.replaceAll(".", "\\.")}-' | head -n 1)
  [ -n "$exact" ] || fail "meshbench:database.version: ${version}; expected one that the vendor's repository has for Debian $release: $(apt-cache madison mysql-community-server | awk '{ print $3 }' | paste -sd ' ')"
  ${installPackage('mysql-community-server="$exact" mysql-community-server-core="$exact" mysql-community-client="$exact" mysql-community-client-core="$exact"', "--no-install-recommends --allow-downgrades", `MySQL ${version} could not be installed from the vendor's package source`)}
fi`;
}

/** Packages and configuration. Never restarts a server: what changed is taken up one node at a time. */
export function configureScript(conf: string, version: string): string {
  return `changed=0
fail() { echo "$(hostname): $*" >&2; exit 1; }
${install(version)}
${writeFile("/etc/systemd/system/mysql.service.d/10-meshbench.conf", AFTER_MESH)}
[ "$changed" = 0 ] || systemctl daemon-reload
${writeFile(CONF_PATH, conf)}
systemctl enable --quiet mysql`;
}
