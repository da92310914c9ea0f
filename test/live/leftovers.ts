/** What of a stack is still there after its destroy, asked of the clouds themselves and not of the state. */
import {
  DescribeAddressesCommand,
  DescribeInstancesCommand,
  DescribeKeyPairsCommand,
  DescribeSecurityGroupsCommand,
  DescribeVolumesCommand,
  DescribeVpcsCommand,
  EC2Client,
} from "@aws-sdk/client-ec2";

/** Everything in the region that carries the stack's tags; terminated instances are gone. */
export async function awsLeftovers(region: string, profile: string | undefined, stack: string): Promise<string[]> {
  const ec2 = new EC2Client({ region, ...(profile === undefined ? {} : { profile }) });
  const ours = {
    Filters: [
      { Name: "tag:project", Values: ["meshbench"] },
      { Name: "tag:stack", Values: [stack] },
    ],
  };
  const [instances, volumes, addresses, vpcs, groups, keys] = await Promise.all([
    ec2.send(
      new DescribeInstancesCommand({
        Filters: [
          ...ours.Filters,
          { Name: "instance-state-name", Values: ["pending", "running", "stopping", "stopped"] },
        ],
      }),
    ),
    ec2.send(new DescribeVolumesCommand(ours)),
    ec2.send(new DescribeAddressesCommand(ours)),
    ec2.send(new DescribeVpcsCommand(ours)),
    ec2.send(new DescribeSecurityGroupsCommand(ours)),
    ec2.send(new DescribeKeyPairsCommand(ours)),
  ]);
  return [
    ...(instances.Reservations ?? []).flatMap((r) => r.Instances ?? []).map((i) => `instance ${i.InstanceId}`),
    ...(volumes.Volumes ?? []).map((v) => `volume ${v.VolumeId}`),
    ...(addresses.Addresses ?? []).map((a) => `Elastic IP ${a.PublicIp}`),
    ...(vpcs.Vpcs ?? []).map((v) => `VPC ${v.VpcId}`),
    ...(groups.SecurityGroups ?? []).map((g) => `security group ${g.GroupId}`),
    ...(keys.KeyPairs ?? []).map((k) => `key pair ${k.KeyName}`),
  ];
}

/** Guests whose tags name the stack. Needs a certificate that Node trusts (NODE_EXTRA_CA_CERTS), or insecure: true. */
export async function proxmoxLeftovers(site: Record<string, unknown>, token: string, stack: string): Promise<string[]> {
  if (site["insecure"] === true) process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  const answer = await fetch(`${String(site["endpoint"]).replace(/\/$/, "")}/api2/json/cluster/resources?type=vm`, {
    headers: { Authorization: `PVEAPIToken=${token}` },
  });
  if (!answer.ok) throw new Error(`Proxmox answered ${answer.status} when asked for leftovers`);
  const { data } = (await answer.json()) as { data: { vmid: number; name?: string; tags?: string }[] };
  return data
    .filter(({ tags = "" }) => tags.split(/[;,]/).includes(stack) || tags.includes(`stack-${stack}`))
    .map(({ vmid, name }) => `guest ${vmid} (${name ?? "no name"})`);
}
