/**
 * Whose credentials a site's resources are made with: one choice for the provider (Go's SDK) and for the questions
 * beforehand (JavaScript's), which choose differently when a profile and keys are both in the environment. Pure.
 */
import type { AwsSite } from "../../config/sites/aws.ts";
import { type AwsRole, type AwsSettings, rolesOf } from "../../config/sites/aws-settings.ts";

export interface AwsKeys {
  accessKeyId: string;
  secretAccessKey: string;
  sessionToken?: string;
}

export interface AwsAccess {
  region: string;
  /** A named profile that wins over keys of the environment. */
  profile?: string;
  /** Keys that win over all else. */
  keys?: AwsKeys;
  /** Taken in this order, the first with the credentials above. */
  roles: AwsRole[];
  /** By the service's name: ec2, sts, servicequotas. */
  endpoints: Record<string, string>;
  fips: boolean;
  dualstack: boolean;
  /** What the provider alone can do, so that nothing can be asked beforehand; names the setting. */
  providerOnly?: string;
  /** In words, for messages. */
  source: string;
}

/**
 * What is configured wins over the environment; there, keys win over AWS_PROFILE, as they do for the provider and for
 * AWS's own command line.
 */
export function accessOf(
  site: Pick<AwsSite, "region" | "profile">,
  settings: AwsSettings,
  environment: NodeJS.ProcessEnv,
): AwsAccess {
  const providerOnly = (["assumeRoleWithWebIdentity", "sharedConfigFiles", "sharedCredentialsFiles"] as const).find(
    (key) => settings[key] !== undefined,
  );
  return {
    region: site.region,
    roles: rolesOf(settings),
    endpoints: Object.assign({}, ...(settings.endpoints ?? [])) as Record<string, string>,
    fips: settings.useFipsEndpoint ?? false,
    dualstack: settings.useDualstackEndpoint ?? false,
    ...(providerOnly === undefined ? {} : { providerOnly: `aws:${providerOnly}` }),
    ...credentials(site, settings, environment),
  };
}

function credentials(
  { profile }: Pick<AwsSite, "profile">,
  settings: AwsSettings,
  environment: NodeJS.ProcessEnv,
): Pick<AwsAccess, "profile" | "keys" | "source"> {
  if (profile !== undefined) return { profile, source: `profile ${profile}` };
  if (settings.accessKey !== undefined && settings.secretKey !== undefined)
    return {
      keys: keysOf(settings.accessKey, settings.secretKey, settings.token),
      source: "aws:accessKey and aws:secretKey",
    };
  if (settings.profile !== undefined) return { profile: settings.profile, source: `profile ${settings.profile}` };
  const { AWS_ACCESS_KEY_ID: id, AWS_SECRET_ACCESS_KEY: secret, AWS_SESSION_TOKEN: token } = environment;
  const named = environment["AWS_PROFILE"];
  if (id && secret)
    return {
      keys: keysOf(id, secret, token || undefined),
      source: `the keys of AWS_ACCESS_KEY_ID${named ? `, which win over AWS_PROFILE ${named}` : ""}`,
    };
  return named ? { profile: named, source: `profile ${named}` } : { source: "the default credentials" };
}

const keysOf = (accessKeyId: string, secretAccessKey: string, sessionToken: string | undefined): AwsKeys => ({
  accessKeyId,
  secretAccessKey,
  ...(sessionToken === undefined ? {} : { sessionToken }),
});

/**
 * The provider's arguments: the stack's settings, and what the site says over them. What the environment says stays
 * there, for the provider reads it itself. `account`: the one that was seen beforehand, and from then on the only one
 * that the provider works in, also when somebody else destroys the stack.
 */
export function providerSettings(
  site: Pick<AwsSite, "region" | "profile">,
  settings: AwsSettings,
  account: string | undefined,
): Omit<AwsSettings, "assumeRole"> {
  const { assumeRole: _, accessKey, secretKey, token, profile, ...rest } = settings;
  const roles = rolesOf(settings);
  const asked = rest.allowedAccountIds ?? rest.forbiddenAccountIds ?? rest.skipRequestingAccountId;
  const named = site.profile ?? profile;
  return {
    ...rest,
    region: site.region,
    ...(site.profile === undefined && accessKey !== undefined && secretKey !== undefined
      ? { accessKey, secretKey, ...(token === undefined ? {} : { token }) }
      : named === undefined
        ? {}
        : { profile: named }),
    ...(roles.length === 0 ? {} : { assumeRoles: roles }),
    ...(account === undefined || asked !== undefined ? {} : { allowedAccountIds: [account] }),
  };
}
