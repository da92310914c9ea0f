/** Takes a stack's resources out of a region when there is no stack left to do it. */
import {
  DeleteInternetGatewayCommand, DeleteKeyPairCommand, DeletePlacementGroupCommand, DeleteRouteTableCommand, DeleteSecurityGroupCommand, DeleteSubnetCommand,
  DeleteVolumeCommand, DeleteVpcCommand, DescribeInternetGatewaysCommand, DescribePlacementGroupsCommand, DetachInternetGatewayCommand, ReleaseAddressCommand,
  TerminateInstancesCommand, waitUntilInstanceTerminated, type EC2Client,
} from "@aws-sdk/client-ec2";
import { errorName } from "../../infra/preflight/aws-account.ts";
import { counted } from "./item.ts";

const TERMINATION_SECONDS = 600;

/** What uses another comes before it. Rules go with their groups. */
const STEPS: [type: string, remove: (ec2: EC2Client, id: string) => Promise<unknown>][] = [
  ["elastic-ip", (ec2, id) => ec2.send(new ReleaseAddressCommand({ AllocationId: id }))],
  ["volume", (ec2, id) => ec2.send(new DeleteVolumeCommand({ VolumeId: id }))],
  ["key-pair", (ec2, id) => ec2.send(new DeleteKeyPairCommand({ KeyPairId: id }))],
  ["placement-group", deletePlacementGroup],
  ["security-group", (ec2, id) => ec2.send(new DeleteSecurityGroupCommand({ GroupId: id }))],
  ["subnet", (ec2, id) => ec2.send(new DeleteSubnetCommand({ SubnetId: id }))],
  ["route-table", (ec2, id) => ec2.send(new DeleteRouteTableCommand({ RouteTableId: id }))],
  ["internet-gateway", deleteGateway],
  ["vpc", (ec2, id) => ec2.send(new DeleteVpcCommand({ VpcId: id }))],
];
/** They end with what they belong to. */
const IMPLIED = new Set(["security-group-rule", "spot-instances-request", "network-interface"]);

/** Goes on after a failure; rejects in the end with everything that stays and why. */
export async function removeFromRegion(ec2: EC2Client, resources: Map<string, string>, say: (line: string) => void): Promise<void> {
  const idsOf = (type: string): string[] => [...resources].filter(([, t]) => t === type).map(([id]) => id);
  const stays: string[] = [];
  const instances = idsOf("instance");
  if (instances.length > 0) {
    say(`terminating ${counted(instances.length, "instance")}: ${instances.join(", ")}`);
    await ec2.send(new TerminateInstancesCommand({ InstanceIds: instances })).catch(accept);
    await waitUntilInstanceTerminated({ client: ec2, maxWaitTime: TERMINATION_SECONDS, minDelay: 2, maxDelay: 15 }, { InstanceIds: instances });
  }
  for (const [type, remove] of STEPS) {
    for (const id of idsOf(type)) {
      say(`deleting ${type} ${id}`);
      await remove(ec2, id).catch(accept).catch((error: unknown) => stays.push(`${type} ${id} (${errorName(error)})`));
    }
  }
  const known = new Set(["instance", ...STEPS.map(([type]) => type), ...IMPLIED]);
  stays.push(...[...resources].filter(([, type]) => !known.has(type)).map(([id, type]) => `${type} ${id} (not a kind that this project makes)`));
  if (stays.length > 0) throw new Error(`stays: ${stays.join(", ")}`);
}

/** What is gone already is what was wanted. */
function accept(error: unknown): void {
  if (!/NotFound/.test(errorName(error))) throw error;
}

async function deleteGateway(ec2: EC2Client, id: string): Promise<void> {
  const { InternetGateways: [gateway] = [] } = await ec2.send(new DescribeInternetGatewaysCommand({ InternetGatewayIds: [id] }));
  for (const { VpcId } of gateway?.Attachments ?? []) await ec2.send(new DetachInternetGatewayCommand({ InternetGatewayId: id, VpcId }));
  await ec2.send(new DeleteInternetGatewayCommand({ InternetGatewayId: id }));
}

/** Deleted by its name, tagged by its id. */
async function deletePlacementGroup(ec2: EC2Client, id: string): Promise<void> {
  const { PlacementGroups: [group] = [] } = await ec2.send(new DescribePlacementGroupsCommand({ GroupIds: [id] }));
  if (group?.GroupName !== undefined) await ec2.send(new DeletePlacementGroupCommand({ GroupName: group.GroupName }));
}
