/** Asks AWS, before anything is created, whether it could do what the configuration wants. Reads only. */
import type { AwsSite } from "../config/aws.ts";
import { typesOf } from "../config/aws-check.ts";
import type { Config } from "../config/schema.ts";
import { typeOf } from "../sites/aws-types.ts";
import type { NodePlan } from "../topology.ts";
import { AwsAccount, errorName } from "./aws-account.ts";
import { type Check, failed, isNetworkError, passed, skipped } from "./check.ts";
import type { Owned } from "./owned.ts";

/** What the checks ask of AWS; AwsAccount is the one that really asks. */
export type Account = Pick<
  AwsAccount,
  "identity" | "offerings" | "virtualCpus" | "running" | "addresses" | "quota" | "images"
>;

export async function checkAwsSites(
  config: Config,
  plans: NodePlan[],
  owned: Owned,
  open = (site: AwsSite): Account => new AwsAccount(site.region, site.profile),
): Promise<Check[]> {
  const sites = config.sites.flatMap((site, i) =>
    site.kind === "aws" ? [{ site, key: `meshbench:sites[${i}]` }] : [],
  );
  const all = await Promise.all(
    sites.map(({ site, key }) =>
      checkSite(
        site,
        key,
        plans.filter((p) => p.site === site.name),
        owned,
        open(site),
      ),
    ),
  );
  return all.flat();
}

async function checkSite(
  site: AwsSite,
  key: string,
  plans: NodePlan[],
  owned: Owned,
  account: Account,
): Promise<Check[]> {
  const credentials = await credentialsCheck(site, key, account);
  if (!credentials.ok || credentials.skipped) return [credentials];
  const rest = await Promise.all([
    asked(`instance types in ${site.region}`, key, () => offeringsCheck(site, key, account)),
    asked(`vCPU quota in ${site.region}`, key, () => cpuCheck(site, key, plans, owned, account)),
    asked(`address quota in ${site.region}`, key, () => addressCheck(site, plans, owned, account)),
    asked(`image in ${site.region}`, key, () => imageCheck(site, key, account)),
  ]);
  return [credentials, ...rest.flat()];
}

async function credentialsCheck(site: AwsSite, key: string, account: Account): Promise<Check> {
  const check = `AWS credentials for ${site.region}`;
  const how = `set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or ${key}.profile`;
  try {
    return passed(check, `account ${await account.identity()}`);
  } catch (error) {
    const name = errorName(error);
    if (isNetworkError(error))
      return skipped(
        check,
        `AWS cannot be reached from here (${(error as { code?: string }).code ?? name}); nothing was checked`,
      );
    if (name === "CredentialsProviderError") return failed(check, `no AWS credentials were found: ${how}`);
    if (/Expired/.test(name)) return failed(check, `the AWS credentials have expired: log in again, or ${how}`);
    if (/InvalidClientTokenId|UnrecognizedClient|SignatureDoesNotMatch|AuthFailure|InvalidToken/.test(name))
      return failed(
        check,
        `AWS does not accept the credentials in ${site.region} (${name}): ${how}; a region that the account has to opt in to must be enabled first`,
      );
    return failed(
      check,
      `AWS refused to say whose credentials these are (${name}: ${(error as Error).message}): ${how}`,
    );
  }
}

/**
 * A question that the credentials may not ask, or that this AWS does not answer, says nothing about the configuration.
 */
async function asked(check: string, key: string, ask: () => Promise<Check[]>): Promise<Check[]> {
  try {
    return await ask();
  } catch (error) {
    const name = errorName(error);
    if (/OptInRequired/.test(name))
      return [failed(check, `${key}.region has to be enabled for the account first (OptInRequired)`)];
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
          `${key}.${name} is ${type}, which ${site.region} does not have; take another type or region`,
        );
      const lacking = site.zones.filter((zone) => !zones.includes(`${site.region}${zone}`));
      if (lacking.length > 0)
        return failed(
          check,
          `${key}.zones has ${lacking.join(", ")}, where ${type} is not offered; allowed are ${zones
            .map((zone) => zone.slice(site.region.length))
            .sort()
            .join(", ")}`,
        );
      return passed(check, `offered in ${site.zones.map((zone) => site.region + zone).join(", ")}`);
    }),
  );
}

/** On-demand and spot instances of the standard families, counted in vCPUs. */
const ON_DEMAND_QUOTA = "L-1216C47A",
  SPOT_QUOTA = "L-34B43A08",
  ADDRESS_QUOTA = "L-0263D0A3";
const STANDARD = /^[acdhimrtz]\d/;

async function cpuCheck(
  site: AwsSite,
  key: string,
  plans: NodePlan[],
  owned: Owned,
  account: Account,
): Promise<Check[]> {
  const check = `vCPU quota in ${site.region}`;
  const types = plans.map((plan) => typeOf(site, plan.roles));
  if (types.some((type) => !STANDARD.test(type)))
    return [skipped(check, "the quota of these instance families is not known here")];
  const spot = site.spot !== false;
  const [perType, running, quota] = await Promise.all([
    account.virtualCpus([...new Set(types)]),
    account.running(owned, spot),
    account.quota("ec2", spot ? SPOT_QUOTA : ON_DEMAND_QUOTA),
  ]);
  const needed = types.reduce((sum, type) => sum + (perType.get(type) ?? 0), 0);
  if (running + needed <= quota) return [passed(check, `${needed} vCPUs needed, ${quota - running} of ${quota} free`)];
  return [
    failed(
      check,
      `the nodes of "${site.name}" need ${needed} vCPUs, but ${quota - running} of the account's ${quota} in ${site.region} are free; ask AWS for a higher quota (${spot ? SPOT_QUOTA : ON_DEMAND_QUOTA}), stop other instances, or take a smaller ${key}.instanceType`,
    ),
  ];
}

async function addressCheck(site: AwsSite, plans: NodePlan[], owned: Owned, account: Account): Promise<Check[]> {
  const check = `address quota in ${site.region}`;
  const [used, quota] = await Promise.all([account.addresses(owned), account.quota("ec2", ADDRESS_QUOTA)]);
  if (used + plans.length <= quota)
    return [passed(check, `${plans.length} Elastic IPs needed, ${quota - used} of ${quota} free`)];
  return [
    failed(
      check,
      `the nodes of "${site.name}" need ${plans.length} Elastic IPs, but ${quota - used} of the account's ${quota} in ${site.region} are free; ask AWS for a higher quota (${ADDRESS_QUOTA}), or put the driver on the proxy's node (meshbench:driver.placement proxy)`,
    ),
  ];
}

async function imageCheck(site: AwsSite, key: string, account: Account): Promise<Check[]> {
  const check = `image in ${site.region}`;
  const images = await account.images(site.ami);
  const image = images.at(-1);
  if (image === undefined) {
    return [
      failed(
        check,
        site.ami === undefined
          ? `${site.region} has no Debian 12 image of Debian's own account; give one by ${key}.ami`
          : `${key}.ami is ${site.ami}, which ${site.region} does not have, or the account may not use`,
      ),
    ];
  }
  if (image.architecture !== "x86_64")
    return [failed(check, `${key}.ami is ${image.id} for ${image.architecture}; allowed are x86_64 images`)];
  return [passed(check, `${image.name} (${image.id})`)];
}
