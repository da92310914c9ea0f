/** What stands under `aws:` in a stack's configuration: settings of Pulumi's AWS provider. Pure. */
import { z } from "zod";
import { configValue } from "../values.ts";

/** YAML reads an account's number, and many a tag, as a number. */
const scalar = z.union([z.string().min(1), z.number(), z.boolean()]).transform(String);
const texts = z.array(scalar);
const tags = z.record(z.string(), scalar);
const role = z.looseObject({
  roleArn: z
    .string()
    .regex(/^arn:[\w-]+:iam::\d{12}:role\/\S+$/, "an ARN such as arn:aws:iam::123456789012:role/bench"),
  externalId: z.string().optional(),
  sessionName: z.string().optional(),
  /** As Go writes a duration: "1h", "45m". */
  duration: z.string().optional(),
  policy: z.string().optional(),
  policyArns: texts.optional(),
  sourceIdentity: z.string().optional(),
  tags: tags.optional(),
  transitiveTagKeys: texts.optional(),
});
const flag = z.boolean().optional();
const text = z.string().min(1).optional();

/** The provider's own names; what is not looked into here is handed on as it stands. */
export const awsSettings = z.strictObject({
  region: text,
  profile: text,
  accessKey: text,
  secretKey: text,
  token: text,
  assumeRoles: z.array(role).min(1).optional(),
  /** The form of older versions, one role. */
  assumeRole: role.optional(),
  assumeRoleWithWebIdentity: z.looseObject({}).optional(),
  allowedAccountIds: texts.optional(),
  forbiddenAccountIds: texts.optional(),
  defaultTags: z.strictObject({ tags: tags.optional() }).optional(),
  ignoreTags: z.strictObject({ keys: texts.optional(), keyPrefixes: texts.optional() }).optional(),
  /** By the service's name: [{ ec2: "https://...", sts: "https://..." }]. */
  endpoints: z.array(z.record(z.string(), z.string())).optional(),
  sharedConfigFiles: texts.optional(),
  sharedCredentialsFiles: texts.optional(),
  customCaBundle: text,
  httpProxy: text,
  httpsProxy: text,
  noProxy: text,
  insecure: flag,
  maxRetries: z.number().int().min(0).optional(),
  retryMode: text,
  stsRegion: text,
  skipCredentialsValidation: flag,
  skipMetadataApiCheck: flag,
  skipRegionValidation: flag,
  skipRequestingAccountId: flag,
  useDualstackEndpoint: flag,
  useFipsEndpoint: flag,
  userAgents: texts.optional(),
});

export type AwsSettings = z.infer<typeof awsSettings>;
export type AwsRole = z.infer<typeof role>;

/** Roles in the order in which one is taken by means of the other. */
export const rolesOf = ({ assumeRoles, assumeRole }: AwsSettings): AwsRole[] =>
  assumeRoles ?? (assumeRole === undefined ? [] : [assumeRole]);

/** Sites without a region of their own have the provider's. */
export function withRegion(sites: unknown, { region }: AwsSettings): unknown {
  if (region === undefined || !Array.isArray(sites)) return sites;
  return (sites as unknown[]).map((site) =>
    (site as { kind?: unknown } | null)?.kind === "aws" && (site as { region?: unknown }).region === undefined
      ? { ...(site as object), region }
      : site,
  );
}

/** Keys of this project, without their namespace, and of the provider, which have theirs: "aws:profile". */
export function splitNamespaces(raw: Record<string, unknown>): {
  own: Record<string, unknown>;
  aws: Record<string, unknown>;
} {
  const all = Object.entries(raw);
  return {
    own: Object.fromEntries(all.filter(([key]) => !key.startsWith("aws:"))),
    aws: Object.fromEntries(
      all.filter(([key]) => key.startsWith("aws:")).map(([key, value]) => [key.slice(4), configValue(key, value)]),
    ),
  };
}
