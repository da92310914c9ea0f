/**
 * Whose credentials are used, and what is said when there are none: the official SDK with files and variables as people
 * have them, and no network.
 */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { STSClient } from "@aws-sdk/client-sts";
import { checkConfig } from "../../infra/config/check.ts";
import { awsSettings } from "../../infra/config/sites/aws-settings.ts";
import { checkAwsSites } from "../../infra/preflight/aws.ts";
import { AwsAccount } from "../../infra/preflight/aws-account.ts";
import { clientSettings } from "../../infra/preflight/aws-clients.ts";
import { accessOf, providerSettings } from "../../infra/sites/aws/access.ts";
import { planNodes } from "../../infra/topology.ts";
import { configOf, problemsOf } from "../infra/config/config.ts";

const folder = mkdtempSync(join(tmpdir(), "meshbench-aws-"));
const saved: Record<string, string | undefined> = {};

function environment(values: Record<string, string | undefined>): void {
  for (const [key, value] of Object.entries(values)) {
    if (!(key in saved)) saved[key] = process.env[key];
    if (value === undefined) delete process.env[key];
    else process.env[key] = value;
  }
}

const SSO_URL = "https://example.awsapps.com/start";

before(() => {
  mkdirSync(join(folder, ".aws", "sso", "cache"), { recursive: true });
  writeFileSync(
    join(folder, ".aws", "config"),
    `[profile sso]
sso_session = corp
sso_account_id = 123456789012
sso_role_name = bench
region = us-east-1
[sso-session corp]
sso_start_url = ${SSO_URL}
sso_region = us-east-1
[profile never]
sso_session = other
sso_account_id = 123456789012
sso_role_name = bench
[sso-session other]
sso_start_url = ${SSO_URL}
sso_region = us-east-1
[profile mfa]
role_arn = arn:aws:iam::123456789012:role/bench
source_profile = base
mfa_serial = arn:aws:iam::123456789012:mfa/ada
[profile base]
aws_access_key_id = AKIABASE
aws_secret_access_key = base-secret
`,
  );
  writeFileSync(
    join(folder, ".aws", "sso", "cache", `${createHash("sha1").update("corp").digest("hex")}.json`),
    JSON.stringify({ startUrl: SSO_URL, region: "us-east-1", accessToken: "x", expiresAt: "2020-01-01T00:00:00Z" }),
  );
  environment({
    HOME: folder,
    AWS_CONFIG_FILE: join(folder, ".aws", "config"),
    AWS_SHARED_CREDENTIALS_FILE: join(folder, ".aws", "credentials"),
    AWS_EC2_METADATA_DISABLED: "true",
    AWS_ENDPOINT_URL: "http://127.0.0.1:9",
    AWS_PROFILE: undefined,
    AWS_ACCESS_KEY_ID: undefined,
    AWS_SECRET_ACCESS_KEY: undefined,
    AWS_SESSION_TOKEN: undefined,
  });
});
after(() => {
  environment(saved);
  rmSync(folder, { recursive: true, force: true });
});

/** The sentence that preflight ends in, by the real SDK. */
async function said(site: object = {}): Promise<string> {
  const config = configOf({
    operatorCidr: "203.0.113.7/32",
    sites: [{ name: "a", kind: "aws", nodes: 1, region: "us-east-1", ...site }],
  });
  const checks = await checkAwsSites(config, planNodes(config), { id: "0123456789ab", name: "t" });
  assert.equal(checks.length, 1, JSON.stringify(checks));
  assert.ok(!checks[0]!.ok && !checks[0]!.skipped, JSON.stringify(checks));
  return checks[0]!.message;
}

test("no credentials at all", async () => {
  assert.match(await said(), /^no AWS credentials were found: set AWS_PROFILE.*meshbench:sites\[0\]\.profile/);
});

test("an SSO session that has expired, or was never begun: what to run, with the profile's name", async () => {
  for (const profile of ["sso", "never"]) {
    const sentence = await said({ profile });
    assert.match(sentence, new RegExp(`run \`aws sso login --profile ${profile}\`$`));
    assert.doesNotMatch(sentence, /no AWS credentials were found/);
  }
  environment({ AWS_PROFILE: "sso" });
  assert.match(await said(), /run `aws sso login --profile sso`$/);
  environment({ AWS_PROFILE: undefined });
});

test("a role that asks for an MFA code, a profile that nobody knows", async () => {
  assert.match(await said({ profile: "mfa" }), /^profile mfa asks for an MFA code.*aws sts get-session-token/);
  assert.match(await said({ profile: "nobody" }), /^profile nobody is unknown here.*aws configure list-profiles/);
});

test("one choice for provider and questions: the site, aws:*, keys of the environment, AWS_PROFILE", async () => {
  const site = { region: "us-east-1" } as const;
  const both = { AWS_ACCESS_KEY_ID: "AKIAENV", AWS_SECRET_ACCESS_KEY: "s", AWS_PROFILE: "sso" };
  const keys = accessOf(site, {}, both);
  assert.deepEqual([keys.profile, keys.keys?.accessKeyId], [undefined, "AKIAENV"], "as the provider's SDK has it");
  assert.match(keys.source, /AWS_ACCESS_KEY_ID, which win over AWS_PROFILE sso/);
  assert.equal(accessOf({ ...site, profile: "p" }, {}, both).profile, "p");
  assert.equal(accessOf(site, { profile: "q" }, both).profile, "q");
  assert.equal(accessOf(site, { accessKey: "A", secretKey: "B", profile: "q" }, both).keys?.accessKeyId, "A");
  assert.equal(accessOf(site, {}, { AWS_PROFILE: "sso" }).profile, "sso");

  // What the SDK really signs with, where its own default would be the profile.
  environment(both);
  const signing = await new STSClient(clientSettings(accessOf(site, {}, process.env), "sts")).config.credentials();
  environment({ AWS_ACCESS_KEY_ID: undefined, AWS_SECRET_ACCESS_KEY: undefined, AWS_PROFILE: undefined });
  assert.equal(signing.accessKeyId, "AKIAENV");
  const named = await new STSClient(
    clientSettings(accessOf({ ...site, profile: "base" }, {}, both), "sts"),
  ).config.credentials();
  assert.equal(named.accessKeyId, "AKIABASE");
});

test("the provider gets the stack's settings, the site over them, and may work in no other account", () => {
  const site = { region: "eu-central-1" } as const;
  const settings = awsSettings.parse({
    region: "us-east-1",
    profile: "q",
    assumeRole: { roleArn: "arn:aws:iam::123456789012:role/bench", externalId: "x" },
    defaultTags: { tags: { team: "db", costCentre: 42 } },
    endpoints: [{ ec2: "https://ec2.example.org" }],
  });
  assert.deepEqual(providerSettings(site, settings, "123456789012"), {
    region: "eu-central-1",
    profile: "q",
    assumeRoles: [{ roleArn: "arn:aws:iam::123456789012:role/bench", externalId: "x" }],
    defaultTags: { tags: { team: "db", costCentre: "42" } },
    endpoints: [{ ec2: "https://ec2.example.org" }],
    allowedAccountIds: ["123456789012"],
  });
  assert.equal(providerSettings({ ...site, profile: "p" }, settings, undefined).profile, "p");
  assert.deepEqual(providerSettings(site, {}, undefined), { region: "eu-central-1" }, "the environment stays there");
  assert.deepEqual(
    providerSettings(site, awsSettings.parse({ allowedAccountIds: [210987654321] }), "123456789012").allowedAccountIds,
    ["210987654321"],
    "what the user allows stands",
  );
  const withKeys = { accessKey: "A", secretKey: "B" };
  assert.deepEqual(providerSettings({ ...site, profile: "p" }, withKeys, undefined), {
    region: "eu-central-1",
    profile: "p",
  });
  assert.equal(accessOf(site, settings, {}).endpoints["ec2"], "https://ec2.example.org");
});

test("aws:* in a stack's configuration: a region for sites without one, mistakes by their key", () => {
  const raw = { operatorCidr: "203.0.113.7/32", sites: [{ name: "a", kind: "aws", nodes: 1 }] };
  assert.match(problemsOf(raw).join(), /meshbench:sites\[0\]\.region: missing/);
  const checked = checkConfig(raw, { region: "eu-west-1" });
  assert.equal("config" in checked && (checked.config.sites[0] as { region: string }).region, "eu-west-1");
  const wrong = (aws: object): string => {
    const found = checkConfig(raw, { region: "eu-west-1", ...aws });
    return "problems" in found ? found.problems.join("\n") : "";
  };
  assert.match(wrong({ colour: "red" }), /^aws:colour: unknown key/);
  assert.match(
    wrong({ assumeRoles: [{ roleArn: "bench" }] }),
    /^aws:assumeRoles\[0\]\.roleArn: "bench"; expected an ARN/,
  );
});

test("a role is taken before anything is asked; its refusal names the setting", async () => {
  const { createServer } = await import("node:http");
  const asked: string[] = [];
  let refuse = false;
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (c: Buffer) => chunks.push(c));
    request.on("end", () => {
      const body = new URLSearchParams(Buffer.concat(chunks).toString());
      const key = /Credential=([^/]+)/.exec(request.headers.authorization ?? "")?.[1] ?? "?";
      asked.push(`${body.get("Action")} by ${key}${body.get("ExternalId") ? ` for ${body.get("ExternalId")}` : ""}`);
      response.setHeader("content-type", "text/xml");
      if (refuse) {
        response.statusCode = 403;
        response.end(
          `<ErrorResponse><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>User ada is not authorized to perform: sts:AssumeRole</Message></Error></ErrorResponse>`,
        );
      } else if (body.get("Action") === "AssumeRole")
        response.end(
          `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIAROLE</AccessKeyId><SecretAccessKey>r</SecretAccessKey><SessionToken>t</SessionToken><Expiration>2099-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`,
        );
      else
        response.end(
          `<GetCallerIdentityResponse><GetCallerIdentityResult><Account>210987654321</Account></GetCallerIdentityResult></GetCallerIdentityResponse>`,
        );
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}`;
  const settings = awsSettings.parse({
    assumeRoles: [{ roleArn: "arn:aws:iam::210987654321:role/bench", externalId: "shared" }],
    endpoints: [{ sts: url }],
  });
  const access = accessOf({ region: "us-east-1" }, settings, {
    AWS_ACCESS_KEY_ID: "AKIAENV",
    AWS_SECRET_ACCESS_KEY: "s",
  });
  try {
    assert.equal(await new AwsAccount(access).identity(), "210987654321");
    assert.deepEqual(asked, ["AssumeRole by AKIAENV for shared", "GetCallerIdentity by ASIAROLE"]);
    refuse = true;
    const checked = checkConfig(
      { operatorCidr: "203.0.113.7/32", sites: [{ name: "a", kind: "aws", nodes: 1, region: "us-east-1" }] },
      settings,
    );
    assert.ok("config" in checked);
    const [check] = await checkAwsSites(
      checked.config,
      planNodes(checked.config),
      { id: "0123456789ab", name: "t" },
      () =>
        ({
          ...({} as AwsAccount),
          identity: () => new AwsAccount(access).identity(),
        }) as AwsAccount,
    );
    assert.match(check!.message, /^aws:assumeRoles: User ada is not authorized.*; expected a role that .* may assume$/);
  } finally {
    server.close();
    server.closeAllConnections();
  }
});
