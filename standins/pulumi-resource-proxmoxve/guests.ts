/** Files, virtual machines and containers through the Proxmox API, with the calls that the vendor's provider makes. */
import { callProxmox, type ProxmoxApi, ProxmoxError } from "../../infra/sites/proxmox/api.ts";
import type { Value, Values } from "../pulumi-resource-command/values.ts";
import { type Form, flag, form, list, machineName, maybeHang, options, siteOf, text } from "./inputs.ts";
import { endMachine, restartMachine, startMachine } from "./lab.ts";
import { at } from "./rules.ts";

export interface Made {
  id: string;
  outputs: Values;
}

export class Guests {
  private readonly api: ProxmoxApi;
  /** Ids are handed out one at a time: two that ask at once would get the same one. */
  private turn: Promise<unknown> = Promise.resolve();

  constructor(api: ProxmoxApi) {
    this.api = api;
  }

  private call<T>(method: Parameters<typeof callProxmox>[1], path: string, body?: Form): Promise<T> {
    return callProxmox<T>(this.api, method, path, body, 60_000);
  }

  /** A task that failed says why in its log only. */
  private async task(node: string, upid: string): Promise<void> {
    for (;;) {
      const { status, exitstatus } = await this.call<{ status: string; exitstatus?: string }>(
        "GET",
        `/nodes/${node}/tasks/${encodeURIComponent(upid)}/status`,
      );
      if (status !== "running") {
        if (exitstatus !== "OK") throw new Error(`task ${upid} ended with: ${exitstatus ?? "no status"}`);
        return;
      }
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }

  private async run(node: string, method: "POST" | "PUT" | "DELETE", path: string, body?: Form): Promise<void> {
    await this.task(node, await this.call<string>(method, `/nodes/${node}${path}`, body));
  }

  async exists(path: string): Promise<boolean> {
    try {
      await this.call("GET", path);
      return true;
    } catch (error) {
      if (error instanceof ProxmoxError && /does not exist|no such/i.test(error.message)) return false;
      throw error;
    }
  }

  async createFile(inputs: Values): Promise<Made> {
    const node = text(inputs["nodeName"]),
      store = text(inputs["datastoreId"]),
      content = text(inputs["contentType"]);
    const fileName = text(inputs["fileName"]) || new URL(text(inputs["url"])).pathname.split("/").pop()!;
    await this.run(
      node,
      "POST",
      `/storage/${store}/download-url`,
      form({
        url: text(inputs["url"]),
        filename: fileName,
        content,
        checksum: text(inputs["checksum"]),
        "checksum-algorithm": text(inputs["checksumAlgorithm"]),
      }),
    );
    return { id: `${store}:${content}/${fileName}`, outputs: { ...inputs, fileName, size: 1 } };
  }

  async deleteFile(id: string, inputs: Values): Promise<void> {
    const store = text(inputs["datastoreId"]),
      node = text(inputs["nodeName"]);
    if (!(await this.exists(`/nodes/${node}/storage/${store}/content/${id}`))) return;
    await this.run(node, "DELETE", `/storage/${store}/content/${id}`);
  }

  /**
   * Makes the guest under the id given, or the next free one. A guest that has the given id is adopted, as the provider
   * does.
   */
  private make(kind: "qemu" | "lxc", inputs: Values, body: (id: number) => Form): Promise<number> {
    const node = text(inputs["nodeName"]);
    const mine = this.turn.then(async () => {
      const id = Number(inputs["vmId"] ?? 0) || Number(await this.call<string>("GET", "/cluster/nextid"));
      if (!(await this.exists(`/nodes/${node}/${kind}/${id}/config`)))
        await this.run(node, "POST", `/${kind}`, body(id));
      return id;
    });
    this.turn = mine.catch(() => undefined);
    return mine;
  }

  async createVm(inputs: Values): Promise<Made> {
    const node = text(inputs["nodeName"]);
    const account = at(inputs, "initialization", "userAccount");
    const keys = list(at(account, "keys")).map(text);
    const address = text(at(inputs, "initialization", "ipConfigs", 0, "ipv4", "address")) || "dhcp";
    if (address !== "dhcp" && !address.includes("/"))
      throw new Error(
        `400 Parameter verification failed: ipconfig0: invalid format - value does not look like a valid ipv4 network configuration`,
      );
    const agent = at(inputs, "agent", "enabled") === true;
    const id = await this.make("qemu", inputs, (vmid) =>
      form({
        vmid,
        name: text(inputs["name"]),
        description: text(inputs["description"]),
        tags: list(inputs["tags"]).map(text).join(";"),
        pool: text(inputs["poolId"]),
        cores: Number(at(inputs, "cpu", "cores") ?? 1),
        cpu: text(at(inputs, "cpu", "type")),
        memory: Number(at(inputs, "memory", "dedicated") ?? 512),
        ostype: text(at(inputs, "operatingSystem", "type")),
        scsihw: text(inputs["scsiHardware"]),
        agent: `enabled=${Number(agent)}`,
        onboot: flag(inputs["onBoot"], true),
        serial0: "socket",
        ide2: `${text(at(inputs, "initialization", "datastoreId")) || "local-lvm"}:cloudinit`,
        ciuser: text(at(account, "username")),
        sshkeys: encodeURIComponent(keys.join("\n")),
        ipconfig0: options({ ip: address, gw: text(at(inputs, "initialization", "ipConfigs", 0, "ipv4", "gateway")) }),
        ...Object.fromEntries(list(inputs["disks"]).map((disk) => [text(at(disk, "interface")), this.drive(disk)])),
        ...Object.fromEntries(
          list(inputs["networkDevices"]).map((card, i) => [
            `net${i}`,
            options({
              model: text(at(card, "model")) || "virtio",
              bridge: text(at(card, "bridge")),
              tag: text(at(card, "vlanId")),
            }),
          ]),
        ),
      }),
    );
    await maybeHang(machineName(text(inputs["name"]), inputs));
    for (const disk of list(inputs["disks"])) await this.grow(node, id, disk);
    if (inputs["started"] !== false) await this.run(node, "POST", `/qemu/${id}/status/start`);
    const found = await startMachine({
      name: machineName(text(inputs["name"]), inputs),
      site: siteOf(inputs),
      address,
      publicKeys: keys,
      image: text(at(inputs, "disks", 0, "importFrom")),
      user: text(at(account, "username")) || "debian",
    });
    const { net0 = "" } = await this.call<{ net0?: string }>("GET", `/nodes/${node}/qemu/${id}/config`);
    return {
      id: String(id),
      outputs: {
        ...inputs,
        vmId: id,
        macAddresses: [/([0-9A-F]{2}:){5}[0-9A-F]{2}/i.exec(net0)?.[0] ?? ""],
        ipv4Addresses: agent ? [["127.0.0.1"], [found]] : [],
        networkInterfaceNames: agent ? ["lo", "eth0"] : [],
      },
    };
  }

  private drive(disk: Value): string {
    const from = text(at(disk, "importFrom"));
    return `${text(at(disk, "datastoreId")) || "local-lvm"}:${from ? 0 : text(at(disk, "size")) || 8},${options({
      "import-from": from,
      cache: text(at(disk, "cache")),
      discard: text(at(disk, "discard")),
      iothread: flag(at(disk, "iothread"), false),
      ssd: flag(at(disk, "ssd"), false),
      serial: text(at(disk, "serial")),
    })}`;
  }

  private async grow(node: string, id: number, disk: Value): Promise<void> {
    if (text(at(disk, "size")) === "") return;
    await this.run(node, "PUT", `/qemu/${id}/resize`, {
      disk: text(at(disk, "interface")),
      size: `${text(at(disk, "size"))}G`,
    });
  }

  async createContainer(inputs: Values): Promise<Made> {
    const node = text(inputs["nodeName"]),
      hostname = text(at(inputs, "initialization", "hostname"));
    const keys = list(at(inputs, "initialization", "userAccount", "keys")).map(text);
    const address = text(at(inputs, "initialization", "ipConfigs", 0, "ipv4", "address")) || "dhcp";
    const id = await this.make("lxc", inputs, (vmid) =>
      form({
        vmid,
        hostname,
        ostemplate: text(at(inputs, "operatingSystem", "templateFileId")),
        description: text(inputs["description"]),
        tags: list(inputs["tags"]).map(text).join(";"),
        pool: text(inputs["poolId"]),
        cores: Number(at(inputs, "cpu", "cores") ?? 1),
        memory: Number(at(inputs, "memory", "dedicated") ?? 512),
        swap: 0,
        unprivileged: flag(inputs["unprivileged"], false),
        onboot: flag(inputs["startOnBoot"], true),
        rootfs: `${text(at(inputs, "disk", "datastoreId")) || "local"}:${text(at(inputs, "disk", "size")) || 4}`,
        "ssh-public-keys": keys.join("\n"),
        features: options({ nesting: flag(at(inputs, "features", "nesting"), false) }),
        ...Object.fromEntries(
          list(inputs["networkInterfaces"]).map((card, i) => [
            `net${i}`,
            options({
              name: text(at(card, "name")),
              bridge: text(at(card, "bridge")),
              tag: text(at(card, "vlanId")),
              ip: address,
              gw: text(at(inputs, "initialization", "ipConfigs", 0, "ipv4", "gateway")),
            }),
          ]),
        ),
        ...Object.fromEntries(
          list(inputs["devicePassthroughs"]).map((device, i) => [
            `dev${i}`,
            options({ path: text(at(device, "path")), mode: text(at(device, "mode")) }),
          ]),
        ),
        // Text such as "10G"; a number is what the provider makes 0 GiB of.
        ...Object.fromEntries(
          list(inputs["mountPoints"]).map((mount, i) => [
            `mp${i}`,
            `${text(at(mount, "volume"))}:${typeof at(mount, "size") === "string" ? text(at(mount, "size")).replace(/G$/, "") : 0},${options({ mp: text(at(mount, "path")), backup: flag(at(mount, "backup"), false) })}`,
          ]),
        ),
      }),
    );
    await maybeHang(machineName(hostname, inputs));
    if (inputs["started"] !== false) await this.run(node, "POST", `/lxc/${id}/status/start`);
    const found = await startMachine({
      name: machineName(hostname, inputs),
      site: siteOf(inputs),
      address,
      publicKeys: keys,
      image: text(at(inputs, "operatingSystem", "templateFileId")),
    });
    const { net0 = "" } = await this.call<{ net0?: string }>("GET", `/nodes/${node}/lxc/${id}/config`);
    const cards = list(inputs["networkInterfaces"]).map((card) => ({
      ...(card as Values),
      macAddress: /([0-9A-F]{2}:){5}[0-9A-F]{2}/i.exec(net0)?.[0] ?? "",
    }));
    return { id: String(id), outputs: { ...inputs, vmId: id, networkInterfaces: cards, ipv4: { eth0: found } } };
  }

  /**
   * In place: what Proxmox can change on a guest that is there. For another size the provider stops it and starts it.
   */
  async update(kind: "qemu" | "lxc", id: string, inputs: Values, olds: Values): Promise<void> {
    const node = text(inputs["nodeName"]);
    await this.call(
      "PUT",
      `/nodes/${node}/${kind}/${id}/config`,
      form({
        ...(kind === "qemu"
          ? { name: text(inputs["name"]) }
          : { hostname: text(at(inputs, "initialization", "hostname")) }),
        description: text(inputs["description"]),
        tags: list(inputs["tags"]).map(text).join(";"),
        cores: Number(at(inputs, "cpu", "cores") ?? 1),
        memory: Number(at(inputs, "memory", "dedicated") ?? 512),
      }),
    );
    const sizes = (values: Values): string => JSON.stringify([at(values, "cpu"), at(values, "memory")]);
    if (sizes(inputs) !== sizes(olds)) {
      await this.run(node, "POST", `/${kind}/${id}/status/stop`);
      await this.run(node, "POST", `/${kind}/${id}/status/start`);
      await restartMachine(
        machineName(kind === "qemu" ? text(inputs["name"]) : text(at(inputs, "initialization", "hostname")), inputs),
        text(at(inputs, "initialization", "ipConfigs", 0, "ipv4", "address")) || "dhcp",
      );
    }
    if (kind === "qemu")
      for (const [i, disk] of list(inputs["disks"]).entries())
        if (at(disk, "size") !== at(olds, "disks", i, "size")) await this.grow(node, Number(id), disk);
  }

  async remove(kind: "qemu" | "lxc", id: string, inputs: Values): Promise<void> {
    const node = text(inputs["nodeName"]);
    if (await this.exists(`/nodes/${node}/${kind}/${id}/config`)) {
      const { status } = await this.call<{ status: string }>("GET", `/nodes/${node}/${kind}/${id}/status/current`);
      if (status === "running") await this.run(node, "POST", `/${kind}/${id}/status/stop`);
      await this.run(node, "DELETE", `/${kind}/${id}?purge=1`);
    }
    await endMachine(
      machineName(kind === "qemu" ? text(inputs["name"]) : text(at(inputs, "initialization", "hostname")), inputs),
    );
  }
}
