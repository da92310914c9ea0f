/** Takes a stack's resources out of a region when there is no stack left to do it. */
import {
  DeleteInternetGatewayCommand,
  DeleteKeyPairCommand,
  DeletePlacementGroupCommand,
  DeleteRouteTableCommand,
  DeleteSecurityGroupCommand,
  DeleteSubnetCommand,
  DeleteVolumeCommand,
  DeleteVpcCommand,
  DescribeInternetGatewaysCommand,
  DescribeKeyPairsCommand,
  DescribePlacementGroupsCommand,
  DescribeSecurityGroupRulesCommand,
  DetachInternetGatewayCommand,
  type EC2Client,
  ReleaseAddressCommand,
  RevokeSecurityGroupEgressCommand,
  RevokeSecurityGroupIngressCommand,
  TerminateInstancesCommand,
  waitUntilInstanceTerminated,
} from "@aws-sdk/client-ec2";
import { errorName } from "../../infra/preflight/aws-account.ts";
import { counted } from "./item.ts";

const TERMINATION_SECONDS = 600;

/**
 * By the first part of their ids, which says what they are; what uses another comes before it.
 */
const STEPS: [prefix: string, kind: string, remove: (ec2: EC2Client, id: string) => Promise<unknown>][] = [
  ["eipalloc", "address", (ec2, id) => ec2.send(new ReleaseAddressCommand({ AllocationId: id }))],
  ["vol", "volume", (ec2, id) => ec2.send(new DeleteVolumeCommand({ VolumeId: id }))],
  ["key", "key pair", deleteKeyPair],
  ["pg", "placement group", deletePlacementGroup],
  ["sgr", "rule", revokeRule],
  ["sg", "security group", (ec2, id) => ec2.send(new DeleteSecurityGroupCommand({ GroupId: id }))],
  ["subnet", "subnet", (ec2, id) => ec2.send(new DeleteSubnetCommand({ SubnetId: id }))],
  ["rtb", "route table", (ec2, id) => ec2.send(new DeleteRouteTableCommand({ RouteTableId: id }))],
  ["igw", "internet gateway", deleteGateway],
  ["vpc", "network", (ec2, id) => ec2.send(new DeleteVpcCommand({ VpcId: id }))],
];
/** They end with what they belong to. */
const IMPLIED: [prefix: string, kind: string][] = [
  ["sir", "spot request"],
  ["eni", "network interface"],
];

const KINDS = new Map<string, string>([
  ["i", "instance"],
  ...STEPS.map(([prefix, kind]): [string, string] => [prefix, kind]),
  ...IMPLIED,
]);
const prefixOf = (id: string): string => id.split("-")[0] ?? "";

/** What an id is of, in a word; undefined for what this project never makes. */
export const kindOf = (id: string): string | undefined => KINDS.get(prefixOf(id));

/** Goes on after a failure; rejects in the end with everything that stays and why. */
export async function removeFromRegion(
  ec2: EC2Client,
  resources: string[],
  say: (line: string) => void,
): Promise<void> {
  const idsOf = (prefix: string): string[] => resources.filter((id) => prefixOf(id) === prefix);
  const stays: string[] = [];
  const instances = idsOf("i");
  if (instances.length > 0) {
    say(`terminating ${counted(instances.length, "instance")}: ${instances.join(", ")}`);
    await ec2.send(new TerminateInstancesCommand({ InstanceIds: instances })).catch(accept);
    await waitUntilInstanceTerminated(
      { client: ec2, maxWaitTime: TERMINATION_SECONDS, minDelay: 2, maxDelay: 15 },
      { InstanceIds: instances },
    );
  }
  for (const [prefix, kind, remove] of STEPS) {
    for (const id of idsOf(prefix)) {
      say(`deleting ${kind} ${id}`);
      await remove(ec2, id)
        .catch(accept)
        .catch((error: unknown) => stays.push(`${kind} ${id} (${errorName(error)})`));
    }
  }
  stays.push(
    ...resources.filter((id) => kindOf(id) === undefined).map((id) => `${id} (not a kind that this project makes)`),
  );
  if (stays.length > 0) throw new Error(`stays: ${stays.join(", ")}`);
}

/** What is gone already is what was wanted. */
function accept(error: unknown): void {
  if (!/NotFound/.test(errorName(error))) throw error;
}

async function deleteGateway(ec2: EC2Client, id: string): Promise<void> {
  const { InternetGateways: [gateway] = [] } = await ec2.send(
    new DescribeInternetGatewaysCommand({ InternetGatewayIds: [id] }),
  );
  for (const { VpcId } of gateway?.Attachments ?? [])
    await ec2.send(new DetachInternetGatewayCommand({ InternetGatewayId: id, VpcId }));
  await ec2.send(new DeleteInternetGatewayCommand({ InternetGatewayId: id }));
}

/** By its name, which every implementation of the API takes. */
async function deleteKeyPair(ec2: EC2Client, id: string): Promise<void> {
  const { KeyPairs = [] } = await ec2.send(new DescribeKeyPairsCommand({ KeyPairIds: [id] }));
  const KeyName = KeyPairs.find((pair) => pair.KeyPairId === id)?.KeyName;
  if (KeyName !== undefined) await ec2.send(new DeleteKeyPairCommand({ KeyName }));
}

/** A rule whose group goes with it is gone when its turn comes. */
async function revokeRule(ec2: EC2Client, id: string): Promise<void> {
  const { SecurityGroupRules: [rule] = [] } = await ec2.send(
    new DescribeSecurityGroupRulesCommand({ SecurityGroupRuleIds: [id] }),
  );
  if (rule?.GroupId === undefined) return;
  const which = { GroupId: rule.GroupId, SecurityGroupRuleIds: [id] };
  if (rule.IsEgress) await ec2.send(new RevokeSecurityGroupEgressCommand(which));
  else await ec2.send(new RevokeSecurityGroupIngressCommand(which));
}

/** Deleted by its name, tagged by its id. */
async function deletePlacementGroup(ec2: EC2Client, id: string): Promise<void> {
  const { PlacementGroups: [group] = [] } = await ec2.send(new DescribePlacementGroupsCommand({ GroupIds: [id] }));
  if (group?.GroupName !== undefined) await ec2.send(new DeletePlacementGroupCommand({ GroupName: group.GroupName }));
}
