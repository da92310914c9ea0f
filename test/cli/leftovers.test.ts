/** What counts as a leftover. */
import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { ran } from "../../cli/doctor/machine.ts";
import { groupTags } from "../../cli/leftovers/aws.ts";
import {
  chosen,
  counted,
  type Found,
  isExpired,
  lastExpiry,
  needsConsent,
  type Place,
  taken,
  when,
} from "../../cli/leftovers/item.ts";
import { judgeLabs, type LabSummary } from "../../cli/leftovers/labs.ts";
import { hostsOf, labelsIn } from "../../cli/leftovers/proxmox.ts";
import { type Deployment, describeStack } from "../../cli/leftovers/stacks.ts";
import { SITE_COMMANDS } from "../../cli/sites/index.ts";
import { labName } from "../../infra/sites/lab-name.ts";
import { checkout, nodeBinary } from "../../tools/paths.ts";

const now = Date.parse("2026-06-01T12:00:00Z");
const past = "2026-06-01T11:00:00Z",
  earlier = "2026-05-30T12:00:00Z",
  future = "2026-06-02T12:00:00Z";

test("over is what has an expiry in the past; several parts are over when the last one is", () => {
  assert.deepEqual(
    [past, future, undefined, "", "soon"].map((t) => isExpired(t, now)),
    [true, false, false, false, false],
  );
  assert.equal(lastExpiry([earlier, past]), past);
  assert.equal(lastExpiry([past, future, earlier]), future);
  assert.equal(lastExpiry([past, undefined]), undefined, "a part without expiry may be wanted for ever");
  assert.equal(lastExpiry([]), undefined);
  assert.deepEqual(
    [past, earlier, future, undefined].map((t) => when(t, now)),
    ["1 h ago", "2 d ago", "in 24 h", "never"],
  );
  assert.deepEqual([counted(1, "node"), counted(2, "address")], ["1 node", "2 addresses"]);
});

test("only what is over is chosen, unless all is asked for; names narrow it", () => {
  const found = (name: string, expired: boolean, stack?: string): Found => ({
    place: "local",
    name,
    stack,
    what: "",
    expired,
    foreign: false,
  });
  const all = [found("a", true, "s"), found("b", false, "s"), found("c", true)];
  assert.deepEqual(
    chosen(all, [], false).map((f) => f.name),
    ["a", "c"],
  );
  assert.deepEqual(
    chosen(all, [], true).map((f) => f.name),
    ["a", "b", "c"],
  );
  assert.deepEqual(
    chosen(all, ["s"], true).map((f) => f.name),
    ["a", "b"],
  );
  assert.deepEqual(
    chosen(all, ["c"], false).map((f) => f.name),
    ["c"],
  );
  assert.deepEqual(chosen(all, ["nope"], true), []);
});

test("a removal takes what others may have made only by a name that is its alone", () => {
  const found = (name: string, foreign: boolean, stackId?: string): Found => ({
    place: "aws",
    name,
    stack: "hybrid",
    stackId,
    what: "",
    expired: true,
    foreign,
  });
  const all = [found("mine", false, "1d"), found("theirs", true, "2e"), found("nobody's", true)];
  const takes = (...names: string[]): string[] => taken(chosen(all, names, false), names).map((f) => f.name);
  assert.deepEqual(takes(), ["mine"]);
  assert.deepEqual(takes("hybrid"), ["mine"], "a stack's name is others' too");
  assert.deepEqual(takes("theirs"), ["theirs"]);
  assert.deepEqual(takes("2e"), ["theirs"]);
  assert.deepEqual(takes("nobody's"), ["nobody's"]);
});

test("nobody is asked about an expired lab; about clouds and what is wanted always", () => {
  const of = (place: Place, expired: boolean): Found => ({ place, name: "", what: "", expired, foreign: false });
  assert.deepEqual(
    (["stack", "local", "aws", "proxmox"] as const).map((place) =>
      needsConsent(of(place, true), place !== "stack" && SITE_COMMANDS[place].inCloud),
    ),
    [false, false, true, true],
  );
  assert.ok(needsConsent(of("local", false), false) && needsConsent(of("stack", true), true));
});

const urn = (type: string, name: string): string => `urn:pulumi:s::meshbench::${type}::${name}`;
const resource = (type: string, name: string, outputs: Record<string, unknown> = {}, id = name) => ({
  urn: urn(type, name),
  type,
  id,
  outputs,
});

test("a stack's expiry is what its state says, and without one a day after its last operation", () => {
  const stack = { urn: urn("pulumi:pulumi:Stack", "s"), type: "pulumi:pulumi:Stack", outputs: { lab: "given-lab" } };
  const expiry = resource("command:local:Command", "expiry", { stdout: past });
  const full: Deployment = {
    resources: [
      stack,
      resource("pulumi:providers:aws", "p"),
      expiry,
      resource("aws:ec2/instance:Instance", "n1", {}, "i-0abc"),
    ],
  };
  const state = describeStack("s", full, {}, "/root")!;
  assert.deepEqual([state.resources, state.expires, state.lab, state.clouds], [2, past, "given-lab", true]);
  assert.ok(state.holds("i-0abc") && !state.holds("i-0ab"));
  const cut = describeStack(
    "s",
    { resources: null, pending_operations: [{}], manifest: { time: "2026-05-31T00:00:00Z" } },
    { "meshbench:lab": "own" },
    "/root",
  )!;
  assert.deepEqual([cut.resources, cut.expires, cut.lab, cut.clouds], [1, "2026-06-01T00:00:00.000Z", "own", false]);
  assert.equal(describeStack("s", { resources: [expiry] }, {}, "/root")!.lab, labName("s", "/root"));
  for (const empty of [{}, { resources: null }, { resources: [stack] }])
    assert.equal(describeStack("s", empty, {}, "/root"), undefined);
});

test("a lab is over when all its nodes are; one that a stack holds is that stack's", () => {
  const node = (expires?: string, state = "ready") => ({
    state,
    labels: expires === undefined ? {} : { project: "meshbench", stack: "s", "stack-id": "1d", owner: "o", expires },
  });
  const labs: LabSummary[] = [
    { lab: "over", nodes: [node(past), node(earlier)] },
    { lab: "half", nodes: [node(past), node(future)] },
    { lab: "held", nodes: [node(past)] },
    { lab: "cut", nodes: [node(past), node(undefined, "creating")] },
    { lab: "unlabelled", nodes: [node(past), node()] },
    { lab: "empty", nodes: [] },
  ];
  const found = judgeLabs(labs, new Set(["held"]), new Set(["1d"]), now);
  assert.deepEqual(
    found.map((f) => [f.name, f.expired]),
    [
      ["over", true],
      ["half", false],
      ["cut", true],
      ["unlabelled", false],
      ["empty", false],
    ],
  );
  assert.deepEqual(found[0], {
    place: "local",
    name: "over",
    what: "2 nodes",
    stack: "s",
    stackId: "1d",
    foreign: false,
    owner: "o",
    expires: past,
    expired: true,
  });
  assert.equal(judgeLabs(labs, new Set(), new Set(["2e"]), now)[0]!.foreign, true, "made by nobody that is known here");
});

test("tags in a region become one entry per stack, without what a stack holds, what is gone and what is others'", () => {
  const tagged = (id: string, type: string, stack: string, expires: string, project = "meshbench", stackId = "1d") =>
    Object.entries({ project, stack, "stack-id": stackId, expires, owner: "o" }).map(([Key, Value]) => ({
      ResourceId: id,
      ResourceType: type as "instance",
      Key,
      Value,
    }));
  const tags = [
    ...tagged("i-1", "instance", "a", past),
    ...tagged("i-2", "instance", "a", earlier),
    ...tagged("vpc-1", "vpc", "a", past),
    ...tagged("i-3", "instance", "b", future),
    ...tagged("i-held", "instance", "a", future),
    ...tagged("i-gone", "instance", "a", future),
    ...tagged("i-other", "instance", "a", past, "theirs"),
    ...tagged("i-colleague", "instance", "a", past, "meshbench", "2e"),
  ];
  const groups = groupTags(
    "eu-west-1",
    tags,
    "meshbench",
    (id) => id === "i-held",
    new Set(["i-gone"]),
    new Set(["1d"]),
    now,
  );
  assert.deepEqual(
    groups.map(({ name, stack, what, expires, expired, foreign }) => ({
      name,
      stack,
      what,
      expires,
      expired,
      foreign,
    })),
    [
      {
        name: "eu-west-1 a 1d",
        stack: "a",
        what: "2 instances, 1 network",
        expires: past,
        expired: true,
        foreign: false,
      },
      { name: "eu-west-1 b 1d", stack: "b", what: "1 instance", expires: future, expired: false, foreign: false },
      { name: "eu-west-1 a 2e", stack: "a", what: "1 instance", expires: past, expired: true, foreign: true },
    ],
  );
  assert.deepEqual(groups[0]!.resources, ["i-1", "i-2", "vpc-1"]);
});

test("a guest's labels are in its description, also percent-encoded; others' guests are none of ours", () => {
  const written = `meshbench: project meshbench, stack hybrid, id 1d, owner A. Person, expires ${past}`;
  const labels = { stack: "hybrid", stackId: "1d", owner: "A. Person", expires: past };
  assert.deepEqual(labelsIn(written, "meshbench"), labels);
  assert.deepEqual(labelsIn(`${encodeURIComponent(written)}%0A`, "meshbench"), labels);
  for (const text of [
    undefined,
    "",
    "a web server",
    written.replace("project meshbench", "project other"),
    "100 % ours",
  ])
    assert.equal(labelsIn(text, "meshbench"), undefined);
});

test("each Proxmox host is asked once, and one that cannot be asked is named", () => {
  const site = (more: object) => ({ sites: [{ name: "h", kind: "proxmox", nodes: 1, ...more }] });
  const token = { proxmoxToken: "u@pve!t=s" },
    endpoint = "https://pve.example.org:8006";
  const { hosts, skipped } = hostsOf([
    { stack: "a", raw: { ...site({ endpoint }), ...token }, sealed: [] },
    { stack: "b", raw: { ...site({ endpoint, insecure: true }), ...token }, sealed: [] },
    { stack: "c", raw: { ...site({}), ...token }, sealed: [] },
    { stack: "d", raw: site({ endpoint: "https://other:8006" }), sealed: [] },
    { stack: "e", raw: { ...site({ endpoint: "https://sealed:8006" }), ...token }, sealed: ["proxmoxToken"] },
    { stack: "f", raw: site({ cores: "many" }), sealed: [] },
    { stack: "g", raw: {}, sealed: [] },
  ]);
  assert.deepEqual([...hosts.values()], [{ endpoint, login: { apiToken: "u@pve!t=s" }, insecure: false }]);
  assert.equal(skipped.length, 4);
  assert.match(
    skipped.join("\n"),
    /of c: no endpoint[\s\S]*of d: no meshbench:proxmoxToken[\s\S]*of e: its login is encrypted[\s\S]*of f: .*not configured/,
  );
});

test("--yes alone is refused, and help names the options", async () => {
  const cli = (...args: string[]) => ran(nodeBinary(), [join(checkout, "cli/main.ts"), "leftovers", ...args]);
  const alone = await cli("--yes");
  assert.deepEqual([alone.code, alone.stdout], [1, ""]);
  assert.match(alone.stderr, /^--yes goes with --destroy[^\n]*\n$/);
  const help = await cli("--help");
  for (const option of ["--all", "--destroy", "--yes", "--json"]) assert.ok(help.stdout.includes(option));
});
