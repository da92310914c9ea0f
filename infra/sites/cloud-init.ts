/** cloud-init user data for a node of any provider. Pure: the same arguments give the same text. */
import { stringify } from "yaml";

export interface CloudInitArgs {
  /** Logs in by key and may become root without a password; "root" itself is allowed. */
  user: string;
  authorizedKeys: string[];
  hostname: string;
  /**
   * An ed25519 SSH host key: the private half in OpenSSH's format, the public one as "ssh-ed25519 AAAA...". Absent: the
   * node makes its own.
   */
  hostKey?: { private: string; public: string };
  /** Debian packages to install at first boot. */
  packages?: string[];
}

/** EC2 takes at most 16 KiB of user data, base64 not counted; Proxmox takes more. */
export const USER_DATA_LIMIT = 16_384;

/** Throws a RangeError that names the argument. */
export function cloudInit({ user, authorizedKeys, hostname, hostKey, packages = [] }: CloudInitArgs): string {
  if (!/^[a-z_][a-z0-9_-]{0,31}$/.test(user))
    throw new RangeError(`cloud-init: user "${user}"; expected a Linux user name`);
  if (!/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(hostname))
    throw new RangeError(`cloud-init: hostname "${hostname}"; expected lower-case letters, digits and '-', at most 63`);
  if (authorizedKeys.length === 0)
    throw new RangeError("cloud-init: no authorizedKeys; expected at least one, or nobody could log in");
  const settings = {
    hostname,
    preserve_hostname: false,
    // sudo resolves the own host name at every call and waits for an answer where there is none.
    manage_etc_hosts: "localhost",
    // The image need not carry the package locales, without which any other value makes cloud-init end in an error.
    locale: "C.UTF-8",
    timezone: "Etc/UTC",
    users: [
      user === "root"
        ? { name: "root", ssh_authorized_keys: authorizedKeys }
        : {
            name: user,
            shell: "/bin/bash",
            lock_passwd: true,
            sudo: "ALL=(ALL) NOPASSWD:ALL",
            ssh_authorized_keys: authorizedKeys,
          },
    ],
    disable_root: user !== "root",
    ssh_pwauth: false,
    ...(hostKey === undefined
      ? {}
      : {
          // Keys of other types, which the image or the first boot may bring, would be host keys that nobody has
          // pinned.
          ssh_deletekeys: true,
          ssh_keys: { ed25519_private: hostKey.private, ed25519_public: hostKey.public },
        }),
    ...(packages.length === 0 ? {} : { package_update: true, packages }),
  };
  return `#cloud-config\n${stringify(settings, { lineWidth: 0 })}`;
}
