import * as sdk from "@aws-sdk/client-ec2";
import type { Values } from "../pulumi-resource-command/values.ts";
import { orGone, tagsOf } from "./client.ts";
import { access, described } from "./instance.ts";
import { type Kind, open } from "./kind.ts";
import { labNodes } from "./lab.ts";

/** In the stand-in the address that an association answers with is the node's own: nothing routes moto's to it. */
export const eipAssociation: Kind = {
  required: [],
  optional: ["allocationId", "instanceId", "allowReassociation"],
  replaced: ["allocationId", "instanceId"],
  computed: ["publicIp", "privateIpAddress", "networkInterfaceId"],
  async create(inputs, { ec2, log }) {
    const { allocationId, instanceId } = open<{ allocationId: string; instanceId: string }>(inputs);
    const one = await described(ec2, instanceId);
    const name = tagsOf(one?.Tags)["Name"];
    const node = (await labNodes(log)).find((candidate) => candidate.name === name);
    if (!one || !node)
      throw new Error(
        `associating EC2 EIP (${allocationId}): InvalidInstanceID.NotFound: The instance ID '${instanceId}' does not exist`,
      );
    // In a VPC an address moves to its new instance by itself; moto wants to be told, and keeps it with a terminated
    // one.
    const made = await ec2.send(
      new sdk.AssociateAddressCommand({ AllocationId: allocationId, InstanceId: instanceId, AllowReassociation: true }),
    );
    await access(node.name, "open", log);
    return {
      id: made.AssociationId ?? "",
      outputs: { ...inputs, publicIp: node.address, privateIpAddress: node.address, networkInterfaceId: "" },
    };
  },
  async read(id, state, { ec2 }) {
    const found = await orGone(
      ec2.send(new sdk.DescribeAddressesCommand({ AllocationIds: [String(state["allocationId"])] })),
    );
    const one = found?.Addresses?.[0];
    return one?.AssociationId === id && (await described(ec2, String((state as Values)["instanceId"])))
      ? state
      : undefined;
  },
  async remove(id, _state, { ec2 }) {
    await orGone(ec2.send(new sdk.DisassociateAddressCommand({ AssociationId: id })));
  },
};
