/** What carries the project's tag in the AWS accounts that this machine has credentials for. */
import {
  DescribeInstancesCommand,
  DescribeRegionsCommand,
  EC2Client,
  paginateDescribeTags,
  type TagDescription,
} from "@aws-sdk/client-ec2";
import type { AwsSite } from "../../infra/config/sites/aws.ts";
import { awsSettings } from "../../infra/config/sites/aws-settings.ts";
import { errorName } from "../../infra/preflight/aws-account.ts";
import { clientSettings, credentialsProblem } from "../../infra/preflight/aws-clients.ts";
import { isNetworkError } from "../../infra/preflight/check.ts";
import { type AwsAccess, accessOf } from "../../infra/sites/aws/access.ts";
import type { StackSettings } from "../doctor/settings.ts";
import { kindOf, removeFromRegion } from "./aws-remove.ts";
import { counted, type Found, isExpired, type Look, lastExpiry, type Removable } from "./item.ts";

export type Group = Found & { resources: string[] };

/**
 * One per stack, by its id, and region, over what the stacks of this backend do not hold. `gone`: instances that only their tags
 * are left of. Pure.
 */
export function groupTags(
  region: string,
  tags: TagDescription[],
  project: string,
  held: (id: string) => boolean,
  gone: Set<string>,
  ownIds: Set<string>,
  now: number,
): Group[] {
  const resources = new Map<string, { type: string; tags: Record<string, string> }>();
  for (const { ResourceId: id, ResourceType: type, Key: key, Value: value } of tags) {
    if (id === undefined || type === undefined || key === undefined) continue;
    const known = resources.get(id) ?? { type, tags: {} };
    known.tags[key] = value ?? "";
    resources.set(id, known);
  }
  const ours = [...resources].filter(([id, r]) => r.tags["project"] === project && !held(id) && !gone.has(id));
  const nameOf = (of: Record<string, string>): string =>
    [region, of["stack"] || "(no stack)", of["stack-id"] ?? ""].join(" ").trimEnd();
  const groups = Map.groupBy(ours, ([, r]) => nameOf(r.tags));
  return [...groups].map(([name, members]): Group => {
    const { stack, "stack-id": stackId, owner } = members[0]![1].tags;
    const expires = lastExpiry(members.map(([, r]) => r.tags["expires"]));
    const kinds = [...Map.groupBy(members, ([id, r]) => kindOf(id) ?? r.type)].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      place: "aws",
      name,
      stack: stack || undefined,
      stackId,
      foreign: !ownIds.has(stackId ?? ""),
      owner,
      what: kinds.map(([type, list]) => counted(list.length, type)).join(", "),
      expires,
      expired: isExpired(expires, now),
      resources: members.map(([id]) => id),
    };
  });
}

/** The default credentials, and those that stacks here have another way; of regions one is asked for all others. */
export function accessesOf(known: Pick<StackSettings, "raw" | "aws">[]): AwsAccess[] {
  const region = process.env["AWS_REGION"] || process.env["AWS_DEFAULT_REGION"] || "us-east-1";
  const ofStacks = known.flatMap(({ raw, aws }): AwsAccess[] => {
    const settings = awsSettings.safeParse(aws).data ?? {};
    const sites = Array.isArray(raw["sites"]) ? (raw["sites"] as ({ kind?: unknown; profile?: unknown } | null)[]) : [];
    return sites.flatMap((site) =>
      site?.kind === "aws"
        ? [
            accessOf(
              {
                region: (settings.region ?? region) as AwsSite["region"],
                ...(typeof site.profile === "string" ? { profile: site.profile } : {}),
              },
              settings,
              process.env,
            ),
          ]
        : [],
    );
  });
  const all = [accessOf({ region: region as AwsSite["region"] }, {}, process.env), ...ofStacks];
  return [...new Map(all.map((access) => [JSON.stringify({ ...access, region: "" }), access])).values()];
}

export interface AwsQuestion {
  project: string;
  /** As the stacks here have it, each once. */
  accesses: AwsAccess[];
  held: (id: string) => boolean;
  /** Of stacks of this backend, or made from this checkout. */
  ownIds: Set<string>;
  now: number;
}

export async function lookAtAws(question: AwsQuestion): Promise<Look> {
  const looks = await Promise.all(question.accesses.map((access) => lookAtAccount(access, question)));
  return { found: looks.flatMap((l) => l.found), skipped: looks.flatMap((l) => l.skipped) };
}

const client = (access: AwsAccess, region: string): EC2Client => new EC2Client(clientSettings(access, "ec2", region));

async function lookAtAccount(access: AwsAccess, question: AwsQuestion): Promise<Look> {
  const account = access.profile === undefined ? "AWS" : `AWS (profile ${access.profile})`;
  if (access.providerOnly !== undefined)
    return { found: [], skipped: [`${account}: ${access.providerOnly} is read by the provider alone`] };
  let regions: string[];
  try {
    const answer = await client(access, access.region).send(new DescribeRegionsCommand({}));
    regions = (answer.Regions ?? []).flatMap(({ RegionName }) => RegionName ?? []);
  } catch (error) {
    return { found: [], skipped: [`${account}: ${reason(error, access)}`] };
  }
  const looks = await Promise.all(
    regions.map(async (region): Promise<Look> => {
      try {
        return { found: await lookAtRegion(client(access, region), region, question), skipped: [] };
      } catch (error) {
        return { found: [], skipped: [`${account}, ${region}: ${reason(error, access)}`] };
      }
    }),
  );
  return { found: looks.flatMap((l) => l.found), skipped: looks.flatMap((l) => l.skipped) };
}

function reason(error: unknown, access: AwsAccess): string {
  const name = errorName(error);
  if (isNetworkError(error)) return `cannot be reached from here (${(error as { code?: string }).code ?? name})`;
  const problem = credentialsProblem(error, access);
  if (problem !== undefined) return problem;
  return `does not answer: ${name}: ${(error as Error).message.split("\n")[0]}`;
}

/** The keys that context.ts puts on everything. */
const KEYS = ["project", "stack", "stack-id", "owner", "expires"];

async function lookAtRegion(
  ec2: EC2Client,
  region: string,
  { project, held, ownIds, now }: AwsQuestion,
): Promise<Removable[]> {
  const tags: TagDescription[] = [];
  for await (const page of paginateDescribeTags({ client: ec2 }, { Filters: [{ Name: "key", Values: KEYS }] }))
    tags.push(...(page.Tags ?? []));
  if (!tags.some((t) => t.Key === "project" && t.Value === project)) return [];
  return groupTags(region, tags, project, held, await goneInstances(ec2, project), ownIds, now).map(
    ({ resources, ...found }): Removable => ({ ...found, remove: (say) => removeFromRegion(ec2, resources, say) }),
  );
}

/** An instance is listed, with its tags, for about an hour after its end. */
async function goneInstances(ec2: EC2Client, project: string): Promise<Set<string>> {
  const { Reservations = [] } = await ec2.send(
    new DescribeInstancesCommand({
      Filters: [
        { Name: "tag:project", Values: [project] },
        { Name: "instance-state-name", Values: ["terminated", "shutting-down"] },
      ],
    }),
  );
  return new Set(Reservations.flatMap(({ Instances = [] }) => Instances.flatMap(({ InstanceId }) => InstanceId ?? [])));
}
