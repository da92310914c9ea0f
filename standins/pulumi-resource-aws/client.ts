/** The official SDK, towards moto. */
import { CreateTagsCommand, DeleteTagsCommand, EC2Client, type ResourceType } from "@aws-sdk/client-ec2";
import { GetCallerIdentityCommand, STSClient } from "@aws-sdk/client-sts";
import { isObject, type Value } from "../pulumi-resource-command/values.ts";
import { tagList } from "./kind.ts";

export const connect = (region: string): EC2Client => new EC2Client({ region, ...loopback() });

function loopback() {
  const endpoint = process.env["AWS_ENDPOINT_URL"];
  // Without it the SDK would turn to the real AWS, which a stand-in must never do.
  if (!endpoint || !/^http:\/\/127\.0\.0\.1:\d+\/?$/.test(endpoint))
    throw new Error(
      "this stand-in for the AWS plugin works on a moto server on this machine: AWS_ENDPOINT_URL must be http://127.0.0.1:<port>",
    );
  return { endpoint, credentials: { accessKeyId: "stand-in", secretAccessKey: "stand-in" } };
}

/** The provider compares its own account with those that it may work in, before anything else. */
export async function requireAccount(allowed: string[] | undefined, region: string): Promise<void> {
  if (allowed === undefined) return;
  const { Account } = await new STSClient({ region, ...loopback() }).send(new GetCallerIdentityCommand({}));
  if (!allowed.includes(Account ?? "")) throw new Error(`AWS account ID not allowed: ${Account ?? ""}`);
}

export const tagged = (
  type: ResourceType,
  tags: Value | undefined,
): { TagSpecifications?: { ResourceType: ResourceType; Tags: { Key: string; Value: string }[] }[] } => {
  const Tags = tagList(tags);
  return Tags.length === 0 ? {} : { TagSpecifications: [{ ResourceType: type, Tags }] };
};

export async function retag(
  ec2: EC2Client,
  id: string,
  before: Value | undefined,
  after: Value | undefined,
): Promise<void> {
  const gone = isObject(before) ? Object.keys(before).filter((key) => !isObject(after) || !(key in after)) : [];
  if (gone.length > 0) await ec2.send(new DeleteTagsCommand({ Resources: [id], Tags: gone.map((Key) => ({ Key })) }));
  const Tags = tagList(after);
  if (Tags.length > 0) await ec2.send(new CreateTagsCommand({ Resources: [id], Tags }));
}

export const tagsOf = (
  tags: { Key?: string | undefined; Value?: string | undefined }[] | undefined,
): Record<string, string> => Object.fromEntries((tags ?? []).map(({ Key, Value: value }) => [Key ?? "", value ?? ""]));

/** AWS answers a look-up of what is not there with an error whose name ends in .NotFound. */
export async function orGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (/NotFound|InvalidAddressID|InvalidAllocationID|InvalidAssociationID|InvalidRoute/.test((error as Error).name))
      return undefined;
    throw error;
  }
}
