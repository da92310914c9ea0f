/** Clients of AWS's SDK that work with the access that the provider has, and what their complaints mean. */
import { AssumeRoleCommand, STSClient } from "@aws-sdk/client-sts";
import type { AwsRole } from "../config/sites/aws-settings.ts";
import type { AwsAccess } from "../sites/aws/access.ts";

export const errorName = (error: unknown): string => (error as { Code?: string }).Code ?? (error as Error).name;

interface Credentials {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
  expiration?: Date;
}
type Source = Credentials | (() => Promise<Credentials>);

const BOUNDS = { maxAttempts: 2, requestHandler: { connectionTimeout: 4000, requestTimeout: 15_000 } };

/** For the constructor of a client; `service` as the provider's `endpoints` calls it. */
export function clientSettings(access: AwsAccess, service: "ec2" | "sts" | "servicequotas", region?: string) {
  const credentials = access.roles.reduce<Source | undefined>(
    (source, role) => assumed(access, role, source),
    access.keys,
  );
  return { ...reaching(access, service, credentials), region: region ?? access.region };
}

function reaching(access: AwsAccess, service: string, credentials: Source | undefined) {
  const endpoint = access.endpoints[service];
  return {
    ...BOUNDS,
    region: access.region,
    ...(credentials === undefined
      ? access.profile === undefined
        ? {}
        : { profile: access.profile }
      : { credentials: credentials as Credentials }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(access.fips ? { useFipsEndpoint: true } : {}),
    ...(access.dualstack ? { useDualstackEndpoint: true } : {}),
  };
}

function assumed(access: AwsAccess, role: AwsRole, source: Source | undefined): () => Promise<Credentials> {
  return async () => {
    const { Credentials: given } = await new STSClient(reaching(access, "sts", source)).send(
      new AssumeRoleCommand({
        RoleArn: role.roleArn,
        RoleSessionName: role.sessionName ?? "meshbench",
        ExternalId: role.externalId,
        DurationSeconds: seconds(role.duration),
        Policy: role.policy,
        PolicyArns: role.policyArns?.map((arn) => ({ arn })),
        SourceIdentity: role.sourceIdentity,
        Tags: role.tags && Object.entries(role.tags).map(([Key, Value]) => ({ Key, Value })),
        TransitiveTagKeys: role.transitiveTagKeys,
      }),
    );
    if (given?.AccessKeyId === undefined || given.SecretAccessKey === undefined)
      throw new Error(`AWS gave no credentials for ${role.roleArn}`);
    return {
      accessKeyId: given.AccessKeyId,
      secretAccessKey: given.SecretAccessKey,
      ...(given.SessionToken === undefined ? {} : { sessionToken: given.SessionToken }),
      ...(given.Expiration === undefined ? {} : { expiration: given.Expiration }),
    };
  };
}

/** "1h30m" -> 5400; undefined for what is no duration. */
function seconds(duration: string | undefined): number | undefined {
  const parts = [...(duration ?? "").matchAll(/(\d+(?:\.\d+)?)(h|m|s)/g)];
  const each = { h: 3600, m: 60, s: 1 };
  return parts.length === 0
    ? undefined
    : Math.round(parts.reduce((sum, [, n, unit]) => sum + Number(n) * each[unit as keyof typeof each], 0));
}

/**
 * One sentence on why there are no credentials, in the SDK's words where it gives a reason; undefined when the error is
 * of another kind. `key` is the site's, undefined where no site asks.
 */
export function credentialsProblem(error: unknown, access: AwsAccess, key?: string): string | undefined {
  const name = errorName(error),
    said = (error as Error).message.split("\n")[0]!.trim().replace(/\.$/, "");
  const profile = access.profile ?? "default";
  const how = `set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY${key === undefined ? "" : `, or ${key}.profile`}`;
  const login = `run \`aws sso login --profile ${profile}\``;
  if (name === "CredentialsProviderError" || name === "TokenProviderError") {
    if (/multi-factor|MFA/i.test(said))
      return `profile ${profile} asks for an MFA code, which neither Pulumi nor this program can ask you for (${said}); get a session first (\`aws sts get-session-token\`, or \`aws sts assume-role\` with --serial-number and --token-code) and give its keys in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN`;
    if (/aws sso login|SSO session|sso/i.test(said)) return `${said}; ${login}`;
    const nothing = /Could not load credentials from any providers/.test(said);
    if (/Could not resolve credentials using profile|was not found/.test(said) || (nothing && access.profile))
      return `profile ${profile} is unknown here, or says nothing of credentials (${said}); \`aws configure list-profiles\` names those that there are; ${how}`;
    if (nothing) return `no AWS credentials were found: ${how}`;
    return `no AWS credentials: ${said} (${access.source}): ${how}`;
  }
  if (/^Expired|ExpiredToken|RequestExpired/.test(name))
    return `the AWS credentials have expired (${access.source}): log in again, or ${how}`;
  if (access.roles.length > 0 && name === "AccessDenied")
    return `aws:assumeRoles: ${said}; expected a role that ${access.source} may assume`;
  return undefined;
}
