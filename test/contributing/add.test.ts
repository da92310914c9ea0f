// Proves that CONTRIBUTING.md's "How to add" is true: its engine, site, proxy and workload are added to a copy of the
// sources as they are written there. Without the edits of the registries the compiler names each of them; with them it
// is content, as many files differ as the guide says, and the program plans a topology of the four.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, test } from "node:test";
import ssh2 from "ssh2";
import ts from "typescript";
import type { Mocked, Registered } from "../infra/mocked.ts";
import { apply, copyOfSources, guideOf, touched } from "./guide.ts";

/** Files that each may take: what is behind the numbers in the guide. */
const MOST = {
  "an engine": { created: 2, edited: 5 },
  "a site": { created: 2, edited: 4 },
  "a proxy": { created: 1, edited: 2 },
  "a workload": { created: 1, edited: 1 },
};
const guides = Object.keys(MOST).map((what) => ({ what: what as keyof typeof MOST, ...guideOf(what) }));
/** With the new files and the first edit a member is there; what knows all members is then to be told of it. */
const isFirst = (guide: (typeof guides)[number], path: string): boolean =>
  guide.what !== "a workload" && guide.blocks.find(({ edit }) => edit)!.path === path;

const folder = copyOfSources();
after(() => rmSync(folder, { recursive: true, force: true }));

const SOURCES = new Map<string, ts.SourceFile | undefined>();

/** What the compiler says of these files, or of all; "infra/x.ts: Property ...". Packages are read once. */
function compile(only?: string[]): string[] {
  const config = join(folder, "tsconfig.json");
  const { options, fileNames } = ts.parseJsonConfigFileContent(
    JSON.parse(readFileSync(config, "utf8")),
    ts.sys,
    folder,
  );
  const host = ts.createCompilerHost(options);
  const read = host.getSourceFile.bind(host);
  host.getSourceFile = (path, ...how) => {
    if (path.startsWith(`${folder}/`)) return read(path, ...how);
    if (!SOURCES.has(path)) SOURCES.set(path, read(path, ...how));
    return SOURCES.get(path);
  };
  const program = ts.createProgram(fileNames, options, host);
  const files = only === undefined ? [undefined] : only.map((path) => program.getSourceFile(join(folder, path)));
  return files
    .flatMap((file) => [...program.getSyntacticDiagnostics(file), ...program.getSemanticDiagnostics(file)])
    .map(({ file, messageText }) => {
      const where = file?.fileName.slice(folder.length + 1) ?? "";
      return `${where}: ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
    });
}

test("a new member that nobody was told of: the compiler names every place", () => {
  for (const guide of guides)
    for (const block of guide.blocks) if (!block.edit || isFirst(guide, block.path)) apply(folder, block);
  const missing = guides
    .filter(({ what }) => what !== "a workload")
    .flatMap((guide) => guide.blocks.filter(({ path, edit }) => edit && !isFirst(guide, path)).map(({ path }) => path));
  const errors = compile(guides.flatMap(({ blocks }) => blocks.map(({ path }) => path)));
  assert.deepEqual([...new Set(errors.map((line) => line.split(": ")[0]!))].toSorted(), missing.toSorted());
  for (const name of ["percona/none", "zone", "nginx"])
    assert.ok(
      errors.some((line) => line.includes(`'${name}'`) || line.includes(`'"${name}"'`)),
      errors.join("\n"),
    );
});

test("with every edit of the guides the project compiles", () => {
  for (const guide of guides)
    for (const block of guide.blocks) if (block.edit && !isFirst(guide, block.path)) apply(folder, block);
  assert.deepEqual(compile(), []);
  SOURCES.clear();
});

test("as many files differ as the guides say, and no more than was promised", () => {
  const all = touched(folder);
  for (const { what, promised, blocks } of guides) {
    const paths = (edit: boolean): string[] => [...new Set(blocks.filter((b) => b.edit === edit).map((b) => b.path))];
    assert.deepEqual(promised, { created: paths(false).length, edited: paths(true).length }, what);
    assert.ok(promised.created <= MOST[what].created && promised.edited <= MOST[what].edited, what);
    for (const path of paths(false)) assert.ok(all.created.includes(path), path);
    for (const path of paths(true)) assert.ok(all.edited.includes(path), path);
  }
  const paths = guides.flatMap(({ blocks }) => blocks.map(({ path }) => path));
  assert.deepEqual([...all.created, ...all.edited].toSorted(), [...new Set(paths)].toSorted());
});

const keyFile = join(folder, "key");
writeFileSync(keyFile, ssh2.utils.generateKeyPairSync("ed25519").private);
const HOST_KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIKSVrBjWJjMgL8Fc9vCXhLbLvVJgQbDhXrQmB2ZKhWfy";
const configured = {
  sites: [
    {
      name: "rack",
      kind: "zone",
      nodes: 1,
      zone: "lab.example.org",
      hostKeys: { "rack-1": HOST_KEY, driver: HOST_KEY },
      privateKeyFile: keyFile,
    },
  ],
  database: { engine: "percona", variables: { innodb_flush_log_at_trx_commit: 2 } },
  proxy: { kind: "nginx" },
  profile: { steps: [{ workload: "visits", threads: 1, durationSeconds: 1, options: { reads: 2 } }] },
};

/** The copy's whole program under mocks. */
function program(raw: Record<string, unknown>): Mocked {
  const ran = spawnSync(process.execPath, [join(folder, "test/infra/mocked.ts")], {
    input: JSON.stringify(raw),
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    env: {
      ...process.env,
      MESHBENCH_MOCKED: JSON.stringify({ "-found": "{}", nginx: '{"version":"1","servers":[]}' }),
    },
  });
  assert.equal(ran.status, 0, ran.stderr);
  return JSON.parse(ran.stdout) as Mocked;
}
const textOf = ({ resources }: Mocked, name: string): string => {
  const found = resources.find((resource: Registered) => resource.name === name);
  assert.ok(found, `${name} is there: ${resources.map((resource) => resource.name).join(" ")}`);
  return JSON.stringify(found.inputs);
};

test("the four together are planned: nodes of the site, the engine's server, the proxy before it, the workload", () => {
  const planned = program(configured);
  assert.equal(planned.error, undefined);
  assert.match(textOf(planned, "rack-1-found"), /rack-1\.lab\.example\.org/);
  assert.match(
    textOf(planned, "rack-1-percona-conf"),
    /percona-server-server[\s\S]*innodb_flush_log_at_trx_commit = 2/,
  );
  assert.match(textOf(planned, "nginx"), /server 10\.99\.0\.\d+:3306 max_fails=1[\s\S]*listen 10\.99\.0\.\d+:4006;/);
  assert.match(textOf(planned, "run-spec"), /visits/);
});

test("what is wrong with one of them is said before anything is created", () => {
  const [site] = configured.sites;
  const step = { workload: "visits", threads: 1, durationSeconds: 1, options: { reeds: 2 } };
  const wrong: [Record<string, unknown>, RegExp][] = [
    [{ sites: [{ ...site, nodes: 2 }] }, /^meshbench:database\.replication: .* with 2 database nodes .*expected 1$/m],
    [
      { sites: [{ ...site, hostKeys: {} }] },
      /^meshbench:sites\[0\]\.hostKeys\["rack-1"\]: missing; expected the host's key$/m,
    ],
    [
      { database: { engine: "percona", replication: "group" } },
      /^meshbench:database\.replication: "group"; expected none$/m,
    ],
    [
      { database: { engine: "mariadb", replication: "async" } },
      /^meshbench:proxy\.kind: "nginx"; expected one that tells the nodes of MariaDB asynchronous apart$/m,
    ],
    [{ profile: { steps: [step] } }, /^meshbench:profile\.steps\[0\]\.options\.reeds: unknown/m],
  ];
  const ran = spawnSync(process.execPath, [
    "--input-type=module",
    "-e",
    `import { checkConfig } from ${JSON.stringify(join(folder, "infra/config/check.ts"))};
     const said = ${JSON.stringify(wrong.map(([changed]) => ({ ...configured, ...changed })))}.map((raw) => checkConfig(raw).problems ?? []);
     console.log(JSON.stringify(said));`,
  ]);
  assert.equal(ran.status, 0, String(ran.stderr));
  for (const [i, problems] of (JSON.parse(String(ran.stdout)) as string[][]).entries())
    assert.match(problems.join("\n"), wrong[i]![1]);
});
