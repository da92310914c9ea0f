import * as sdk from "@aws-sdk/client-ec2";
import type { Values } from "../pulumi-resource-command/values.ts";
import { orGone, retag, tagged, tagsOf } from "./client.ts";
import { isCidr, type Kind, open } from "./kind.ts";
import { portRange } from "./network.ts";

type Tags = Record<string, string>;

export const keyPair: Kind = {
  required: ["publicKey"],
  optional: ["keyName", "tags"],
  replaced: ["publicKey", "keyName"],
  computed: ["arn", "fingerprint", "keyPairId", "keyType", "keyName"],
  async create(inputs, { ec2, region, name }) {
    const {
      publicKey,
      keyName = `${name}-${Math.random().toString(16).slice(2, 9)}`,
      tags,
    } = open<{ publicKey: string; keyName?: string; tags?: Tags }>(inputs);
    const made = await ec2.send(
      new sdk.ImportKeyPairCommand({
        KeyName: keyName,
        PublicKeyMaterial: Buffer.from(publicKey),
        ...tagged("key-pair", tags),
      }),
    );
    return {
      id: keyName,
      outputs: {
        ...inputs,
        keyName,
        fingerprint: made.KeyFingerprint ?? "",
        keyPairId: made.KeyPairId ?? "",
        keyType: "ed25519",
        arn: `arn:aws:ec2:${region}::key-pair/${keyName}`,
      },
    };
  },
  async read(id, state, { ec2 }) {
    const found = await orGone(ec2.send(new sdk.DescribeKeyPairsCommand({ KeyNames: [id] })));
    const one = found?.KeyPairs?.[0];
    return one && { ...state, tags: tagsOf(one.Tags) };
  },
  async update(_id, inputs, state, { ec2 }) {
    await retag(ec2, String(state["keyPairId"]), state["tags"], inputs["tags"]);
    return { ...state, ...inputs };
  },
  async remove(id, _state, { ec2 }) {
    await orGone(ec2.send(new sdk.DeleteKeyPairCommand({ KeyName: id })));
  },
};

export const securityGroup: Kind = {
  required: [],
  optional: ["name", "vpcId", "description", "revokeRulesOnDelete", "tags"],
  rules: {
    description: (value) =>
      String(value).length <= 255 && /^[0-9A-Za-z_ .:/()#,@[\]+=&;{}!$*-]*$/.test(String(value))
        ? undefined
        : "description can be at most 255 characters of a restricted set",
    name: (value) => (/^sg-/.test(String(value)) ? 'name cannot begin with "sg-"' : undefined),
  },
  replaced: ["name", "vpcId", "description"],
  computed: ["arn", "ownerId", "name"],
  async create(inputs, { ec2, name }) {
    const given = open<{ name?: string; vpcId: string; description?: string; tags?: Tags }>(inputs);
    const groupName = given.name ?? `${name}-${Math.random().toString(16).slice(2, 9)}`;
    const made = await ec2.send(
      new sdk.CreateSecurityGroupCommand({
        GroupName: groupName,
        Description: given.description ?? "Managed by Pulumi",
        VpcId: given.vpcId,
        ...tagged("security-group", given.tags),
      }),
    );
    const id = made.GroupId ?? "";
    // AWS lets everything out of a new group; the provider takes that rule away.
    await ec2.send(
      new sdk.RevokeSecurityGroupEgressCommand({
        GroupId: id,
        IpPermissions: [{ IpProtocol: "-1", IpRanges: [{ CidrIp: "0.0.0.0/0" }] }],
      }),
    );
    return { id, outputs: { ...inputs, name: groupName, arn: made.SecurityGroupArn ?? "", ownerId: "" } };
  },
  async read(id, state, { ec2 }) {
    const found = await orGone(ec2.send(new sdk.DescribeSecurityGroupsCommand({ GroupIds: [id] })));
    const one = found?.SecurityGroups?.[0];
    return one && { ...state, tags: tagsOf(one.Tags) };
  },
  async update(id, inputs, state, { ec2 }) {
    await retag(ec2, id, state["tags"], inputs["tags"]);
    return { ...state, ...inputs };
  },
  async remove(id, _state, { ec2 }) {
    await orGone(ec2.send(new sdk.DeleteSecurityGroupCommand({ GroupId: id })));
  },
};

const SOURCES = ["cidrIpv4", "cidrIpv6", "prefixListId", "referencedSecurityGroupId"];

function exactlyOneSource(_value: unknown, inputs: Values): string | undefined {
  const given = SOURCES.filter((key) => inputs[key] !== undefined && inputs[key] !== null);
  return given.length === 1 ? undefined : `exactly one of ${SOURCES.join(", ")} must be given, got ${given.length}`;
}

function permission(inputs: Values): sdk.IpPermission {
  const { ipProtocol, fromPort, toPort, cidrIpv4, referencedSecurityGroupId, description } = open<{
    ipProtocol: string;
    fromPort?: number;
    toPort?: number;
    cidrIpv4?: string;
    referencedSecurityGroupId?: string;
    description?: string;
  }>(inputs);
  const say = description === undefined ? {} : { Description: description };
  return {
    IpProtocol: ipProtocol,
    ...(fromPort === undefined ? {} : { FromPort: fromPort }),
    ...(toPort === undefined ? {} : { ToPort: toPort }),
    ...(cidrIpv4 === undefined ? {} : { IpRanges: [{ CidrIp: cidrIpv4, ...say }] }),
    ...(referencedSecurityGroupId === undefined
      ? {}
      : { UserIdGroupPairs: [{ GroupId: referencedSecurityGroupId, ...say }] }),
  };
}

/** moto keeps a group's rules without ids that last, so a rule is found again by its content. */
function rule(direction: "ingress" | "egress"): Kind {
  const change = async (inputs: Values, ec2: sdk.EC2Client, what: "grant" | "revoke"): Promise<void> => {
    const request = { GroupId: String(inputs["securityGroupId"]), IpPermissions: [permission(inputs)] };
    if (direction === "ingress")
      await ec2.send(
        what === "grant"
          ? new sdk.AuthorizeSecurityGroupIngressCommand(request)
          : new sdk.RevokeSecurityGroupIngressCommand(request),
      );
    else
      await ec2.send(
        what === "grant"
          ? new sdk.AuthorizeSecurityGroupEgressCommand(request)
          : new sdk.RevokeSecurityGroupEgressCommand(request),
      );
  };
  return {
    required: ["securityGroupId", "ipProtocol"],
    optional: ["fromPort", "toPort", "description", "tags", ...SOURCES],
    rules: {
      cidrIpv4: isCidr,
      fromPort: portRange,
      toPort: portRange,
      securityGroupId: exactlyOneSource,
      ipProtocol: (value, inputs) =>
        value !== "-1" && (inputs["fromPort"] === undefined || inputs["toPort"] === undefined)
          ? "fromPort and toPort are needed with this ipProtocol"
          : undefined,
    },
    replaced: ["securityGroupId"],
    computed: ["arn", "securityGroupRuleId"],
    async create(inputs, { ec2, region }) {
      await change(inputs, ec2, "grant");
      const id = `sgr-${Math.random().toString(16).slice(2).padEnd(17, "0").slice(0, 17)}`;
      return {
        id,
        outputs: { ...inputs, securityGroupRuleId: id, arn: `arn:aws:ec2:${region}::security-group-rule/${id}` },
      };
    },
    async read(_id, state, { ec2 }) {
      const found = await orGone(
        ec2.send(new sdk.DescribeSecurityGroupsCommand({ GroupIds: [String(state["securityGroupId"])] })),
      );
      const group = found?.SecurityGroups?.[0];
      const wanted = permission(state);
      const cidr = wanted.IpRanges?.[0]?.CidrIp,
        source = wanted.UserIdGroupPairs?.[0]?.GroupId;
      const there = (direction === "ingress" ? group?.IpPermissions : group?.IpPermissionsEgress)?.some(
        (p) =>
          p.IpProtocol === wanted.IpProtocol &&
          (wanted.FromPort === undefined || p.FromPort === wanted.FromPort) &&
          (cidr === undefined
            ? p.UserIdGroupPairs?.some((g) => g.GroupId === source)
            : p.IpRanges?.some((r) => r.CidrIp === cidr)),
      );
      return there ? state : undefined;
    },
    async update(_id, inputs, state, { ec2 }) {
      const { tags: _newTags, ...after } = open<Values>(inputs),
        before = permission(state);
      if (JSON.stringify(permission(after)) !== JSON.stringify(before)) {
        await change(state, ec2, "revoke");
        await change(inputs, ec2, "grant");
      }
      return { ...state, ...inputs };
    },
    async remove(_id, state, { ec2 }) {
      await orGone(change(state, ec2, "revoke"));
    },
  };
}

export const ingressRule = rule("ingress");
export const egressRule = rule("egress");
