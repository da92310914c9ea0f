/** Asks AWS, before anything is created, whether it could do what the configuration wants. Reads only. */

import type { Config } from "../config/schema.ts";
import type { AwsSite } from "../config/sites/aws.ts";
import { architectureOf, typesOf } from "../config/sites/aws-check.ts";
import { releaseOf } from "../config/sites/common.ts";
import { type AwsAccess, accessOf } from "../sites/aws/access.ts";
import type { NodePlan } from "../topology.ts";
import { AwsAccount, errorName } from "./aws-account.ts";
import { credentialsProblem } from "./aws-clients.ts";
import { type ExistingAccount, existingChecks } from "./aws-existing.ts";
import { demandOf, type QuotaAccount, quotaChecks } from "./aws-quotas.ts";
import { type Check, failed, isNetworkError, passed, skipped } from "./check.ts";
import type { Owned } from "./owned.ts";

/** What the checks ask of AWS; AwsAccount is the one that really asks. */
export type Account = QuotaAccount &
  ExistingAccount &
  Pick<AwsAccount, "identity" | "regionStatus" | "offerings" | "images">;

interface Asked {
  site: AwsSite;
  /** How the site is called in messages: meshbench:sites[0]. */
  key: string;
  access: AwsAccess;
  account: Account;
}

export async function checkAwsSites(
  config: Config,
  plans: NodePlan[],
  owned: Owned,
  open = (access: AwsAccess): Account => new AwsAccount(access),
  environment: NodeJS.ProcessEnv = process.env,
): Promise<Check[]> {
  const sites = config.sites.flatMap((site, i): Asked[] => {
    if (site.kind !== "aws") return [];
    const access = accessOf(site, config.aws, environment);
    return [{ site, key: `meshbench:sites[${i}]`, access, account: open(access) }];
  });
  const seen = await Promise.all(sites.map(async (one) => ({ one, check: await credentialsCheck(one) })));
  const known = seen.filter(({ check }) => check.account !== undefined);
  // Sites of one account in one region share its quotas.
  const places = Map.groupBy(known, ({ one, check }) => `${check.account!.id} ${one.site.region}`);
  const rest = await Promise.all([
    ...known.map(({ one }) => siteChecks(one, config.mesh.network)),
    ...[...places.values()].map((members) => {
      const { key, account, site } = members[0]!.one;
      return quotaChecks(
        members.map(({ one }) =>
          demandOf(
            one.site,
            plans.filter((p) => p.site === one.site.name),
          ),
        ),
        {
          region: site.region,
          owned,
          account,
          asked: (check, ask) => asked(check, key, ask),
          instead: {
            cpus: `take a smaller ${key}.instanceType`,
            addresses: "put the driver on the proxy's node (meshbench:driver.placement proxy)",
            networks: `take away a VPC that nobody needs`,
          },
        },
      );
    }),
  ]);
  return [...seen.map(({ check }) => check), ...rest.flat()];
}

async function siteChecks({ site, key, account }: Asked, meshNetwork: string): Promise<Check[]> {
  const checks = await Promise.all([
    asked(`instance types in ${site.region}`, key, () => offeringsCheck(site, key, account)),
    asked(`image in ${site.region}`, key, () => imageCheck(site, key, account)),
    ...existingChecks(site, key, account, meshNetwork).map(({ check, ask }) => asked(check, key, ask)),
  ]);
  return checks.flat();
}

async function credentialsCheck({ site, key, access, account }: Asked): Promise<Check> {
  const check = `AWS credentials for ${site.region}`;
  if (access.providerOnly !== undefined)
    return skipped(check, `${access.providerOnly} is read by the provider alone; nothing was checked`);
  try {
    const id = await account.identity();
    return { ...passed(check, `account ${id}, by ${access.source}`), account: { site: site.name, id } };
  } catch (error) {
    const name = errorName(error);
    if (isNetworkError(error))
      return skipped(
        check,
        `AWS cannot be reached from here (${(error as { code?: string }).code ?? name}); nothing was checked`,
      );
    const problem = credentialsProblem(error, access, key);
    if (problem !== undefined) return failed(check, problem);
    if (
      /InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch|AuthFailure|InvalidToken|OptInRequired/.test(name)
    )
      return failed(check, (await notEnabled(site, key, account)) ?? refused(site, key, access, name));
    return failed(
      check,
      `AWS refused to say whose credentials these are (${name}: ${(error as Error).message}; ${access.source})`,
    );
  }
}

const refused = (site: AwsSite, key: string, { source }: AwsAccess, name: string): string =>
  `AWS does not accept the credentials in ${site.region} (${name}; ${source}): set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or ${key}.profile; a region that the account has to opt in to must be enabled first`;

/** A region that was never enabled refuses credentials that are good elsewhere, as if they were none. */
async function notEnabled(site: AwsSite, key: string, account: Account): Promise<string | undefined> {
  const status = await account.regionStatus().catch(() => undefined);
  return status === "not-opted-in"
    ? `${key}.region: ${site.region}, which is not enabled for the account; expected an enabled one, or enable it (\`aws account enable-region --region-name ${site.region}\`, which takes some minutes)`
    : undefined;
}

/**
 * A question that the credentials may not ask, or that this AWS does not answer, says nothing about the configuration.
 */
export async function asked(check: string, key: string, ask: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await ask();
  } catch (error) {
    const name = errorName(error);
    if (/OptInRequired/.test(name))
      return [
        failed(
          check,
          `${key}.region: not enabled for the account (OptInRequired); expected an enabled one, or enable it`,
        ),
      ];
    return [skipped(check, `could not be asked (${name}); what it would have said shows only during \`up\``)];
  }
}

async function offeringsCheck(site: AwsSite, key: string, account: Account): Promise<Check[]> {
  return Promise.all(
    typesOf(site).map(async ({ key: name, type }) => {
      const zones = await account.offerings(type);
      const check = `${type} in ${site.region}`;
      if (zones.length === 0)
        return failed(
          check,
          `${key}.${name}: ${type}, which ${site.region} does not have; expected another type or region`,
        );
      const lacking = site.zones.filter((zone) => !zones.includes(`${site.region}${zone}`));
      if (lacking.length > 0)
        return failed(
          check,
          `${key}.zones: ${lacking.join(", ")}, where ${type} is not offered; expected ${zones
            .map((zone) => zone.slice(site.region.length))
            .sort()
            .join(", ")}`,
        );
      return passed(check, `offered in ${site.zones.map((zone) => site.region + zone).join(", ")}`);
    }),
  );
}

/** Of every architecture that the site's nodes have. */
async function imageCheck(site: AwsSite, key: string, account: Account): Promise<Check[]> {
  const check = `image in ${site.region}`;
  const architectures = [...new Set(typesOf(site).map(({ type }) => architectureOf(type)))];
  return Promise.all(
    architectures.map(async (architecture): Promise<Check> => {
      const image = (await account.images(site.ami, releaseOf(site), architecture)).at(-1);
      if (image === undefined)
        return failed(
          check,
          site.ami === undefined
            ? `${site.region} has no Debian ${releaseOf(site)} image for ${architecture} of Debian's own account; give one by ${key}.ami`
            : `${key}.ami: ${site.ami}, which ${site.region} does not have, or the account may not use; expected another`,
        );
      if (image.architecture !== architecture)
        return failed(
          check,
          `${key}.ami: ${image.id}, an image for ${image.architecture}; expected one for ${architecture}, which ${site.instanceType} has`,
        );
      return passed(check, `${image.name} (${image.id})`);
    }),
  );
}
