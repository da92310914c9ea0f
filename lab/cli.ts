#!/usr/bin/env node
/** Command line of the local nodes: JSON in and out, progress on stderr, exit code 1 with one sentence on error. */
import { spawn } from "node:child_process";
import { Command, Option } from "commander";
import { access, label, limit } from "./change.ts";
import { check, installMissing, requireMachine } from "./check.ts";
import { buildImage, imageRoot, pruneImages } from "./image/image.ts";
import type { Debian } from "./image/mirror.ts";
import { expiredLabs, findLeftovers, listSummaries, purgeLab, purgeOrphans } from "./leftovers.ts";
import { type LinkChange, setLink, showLinks } from "./network/links.ts";
import { applyNetwork } from "./network/network.ts";
import { createNode, deleteNode, nodeCommand, startNode, stopNode } from "./nodes.ts";
import { freeName, listLabs } from "./registry.ts";
import { LabError } from "./run.ts";
import { labelRequest, labName, limitRequest, networkName, networkRequest, nodeRequest, parse } from "./schema.ts";
import { bare, describeLab, figure, lab, node, print, readInput, release, seconds } from "./words.ts";

// A node's disk and the image hold what every user of a node must be able to read: the caller's umask is no part of it.
// What is to stay closed is made with a mode of its own.
process.umask(0o022);

const program = new Command("lab").description(
  "Debian nodes on this machine, in sites joined by emulated wide-area links. Needs root.",
);

program
  .command("check")
  .description("say whether this machine can run local nodes")
  .option("--install", "install the Debian packages that are missing")
  .action(async (options: { install?: true }) => {
    const installed = options.install ? await installMissing() : [];
    await requireMachine();
    print({ ...(await check()), installed });
  });

const image = program.command("image").description("the node image");
image
  .command("build")
  .description("build it, unless it is there")
  .addOption(release())
  .addOption(bare())
  .action(async (o: { debian: Debian; bare?: true }) => {
    await requireMachine();
    print(await buildImage(o.debian, o.bare ?? false));
  });
image
  .command("path")
  .description("print its directory")
  .addOption(release())
  .addOption(bare())
  .action((o: { debian: Debian; bare?: true }) => void process.stdout.write(`${imageRoot(o.debian, o.bare)}\n`));
image
  .command("prune")
  .description("remove the images of other versions that no node runs on")
  .action(async () => print({ removed: await pruneImages() }));

const network = program.command("network").description("sites and the links between them");
network
  .command("apply")
  .description(
    'make or change a lab\'s network; stdin: {"lab", "sites": [{"name", "nat"?}], "links": [{"between": [a, b], "rttMs", "jitterMs"?, "lossPct"?, "rateMbit"?}]}',
  )
  .action(async () => {
    const request = await readInput(networkRequest, "network");
    await requireMachine();
    print(await applyNetwork(request));
  });
network
  .command("delete")
  .description('remove the lab\'s network and every node in it; --lab, or stdin: {"lab"}')
  .option("--lab <lab>", "name of the lab", (value: string) => parse(labName, value, "--lab"))
  .action(async (options: { lab?: string }) => {
    const name = options.lab ?? (await readInput(networkName, "network")).lab;
    print(await purgeLab(name));
  });

const nodes = program.command("node").description("nodes");
nodes
  .command("create")
  .description(
    'make a node and wait until sshd answers (and cloud-init is done, when there is user data); stdin: {"lab", "site", "name", "authorizedKeys": [], "userData"?, "hostKeyPrivate"?, "labels"?: {project, stack, run, owner, expires}, "cpus"?, "memoryMb"?, "debian"?: 12, "bare"?: {"user"}, "timeoutSeconds"?: 60}',
  )
  .action(async () => print(await createNode(await readInput(nodeRequest, "node"))));
nodes
  .command("delete")
  .description("shut a node down and remove it; one that is gone is fine")
  .addOption(lab())
  .addOption(node())
  .option("--grace <seconds>", "how long the shutdown may take; 0 pulls the plug", seconds, 10)
  .action(async (o: { lab: string; name: string; grace: number }) =>
    print(await deleteNode(o.lab, o.name, o.grace * 1000)),
  );
nodes
  .command("stop")
  .description("shut a node down; its disk stays")
  .addOption(lab())
  .addOption(node())
  .option("--grace <seconds>", "how long the shutdown may take", seconds, 60)
  .action(async (o: { lab: string; name: string; grace: number }) =>
    print(await stopNode(o.lab, o.name, o.grace * 1000)),
  );
nodes
  .command("kill")
  .description("end everything in a node at once, as a power cut; its disk stays")
  .addOption(lab())
  .addOption(node())
  .action(async (o: { lab: string; name: string }) => print(await stopNode(o.lab, o.name, 0)));
nodes
  .command("start")
  .description("boot a node that is down, on the disk it had")
  .addOption(lab())
  .addOption(node())
  .option("--timeout <seconds>", "how long to wait for sshd", seconds, 60)
  .action(async (o: { lab: string; name: string; timeout: number }) =>
    print(await startNode(o.lab, o.name, o.timeout * 1000)),
  );
nodes
  .command("access")
  .description("let this machine reach a node, or not: closed, the node is reached from its own site alone")
  .addOption(lab())
  .addOption(node())
  .addOption(new Option("--operator <way>", "open or closed").choices(["open", "closed"]).makeOptionMandatory())
  .action(async (o: { lab: string; name: string; operator: "open" | "closed" }) =>
    print(await access(o.lab, o.name, o.operator === "open")),
  );
nodes
  .command("exec")
  .description("run a command inside a node; its exit code is passed on")
  .addOption(lab())
  .addOption(node())
  .argument("<command...>", "the command, after --")
  .action(async (command: string[], o: { lab: string; name: string }) => {
    const [enter = "", ...args] = await nodeCommand(o.lab, o.name);
    const child = spawn(enter, [...args, ...command], { stdio: "inherit" });
    child.on("error", (error) => fail(new LabError(`${enter}: ${error.message}`)));
    child.on("close", (code) => (process.exitCode = code ?? 137));
  });

program
  .command("label")
  .description('set the labels of all nodes of a lab; stdin: {"lab", "labels"}')
  .action(async () => {
    const request = await readInput(labelRequest, "label");
    print(await label(request.lab, request.labels));
  });
program
  .command("limit")
  .description(
    'set processors and memory of nodes, also of running ones; stdin: {"lab", "nodes": {<name>: {"cpus"?, "memoryMb"?}}}',
  )
  .action(async () => {
    const request = await readInput(limitRequest, "limit");
    print(await limit(request.lab, request.nodes));
  });

const link = program.command("link").description("links between sites");
link
  .command("set")
  .description("change a link of a running lab")
  .addOption(lab())
  .requiredOption("--between <a,b>", "the two sites")
  .option("--rtt <ms>", "round-trip time that the link adds", figure)
  .option("--jitter <ms>", "one-way delay varies by plus or minus this", figure)
  .option("--loss <percent>", "packets lost, each way", figure)
  .option("--rate <mbit>", "rate each way in Mbit/s, 0 for no limit", figure)
  .addOption(new Option("--cut", "let nothing through").conflicts("restore"))
  .option("--restore", "undo --cut")
  .action(
    async (o: {
      lab: string;
      between: string;
      rtt?: number;
      jitter?: number;
      loss?: number;
      rate?: number;
      cut?: true;
      restore?: true;
    }) => {
      const change: LinkChange = {
        ...(o.rtt === undefined ? {} : { rttMs: o.rtt }),
        ...(o.jitter === undefined ? {} : { jitterMs: o.jitter }),
        ...(o.loss === undefined ? {} : { lossPct: o.loss }),
        ...(o.rate === undefined ? {} : { rateMbit: o.rate }),
        ...(o.cut ? { cut: true } : {}),
        ...(o.restore ? { cut: false } : {}),
      };
      print(await setLink(o.lab, o.between, change));
    },
  );
link
  .command("show")
  .description("settings and counters of a lab's links")
  .addOption(lab())
  .action(async (o: { lab: string }) => print(await showLinks(o.lab)));

program
  .command("list")
  .description("labs on this machine and their nodes")
  .option("--json", "as JSON")
  .action(async (o: { json?: true }) => {
    const labs = await listSummaries();
    if (o.json) print(labs);
    else process.stdout.write(labs.length ? `${labs.map(describeLab).join("\n")}\n` : "no labs\n");
  });

program
  .command("name")
  .description("print the name for the lab of a new stack: the preferred one unless another stack's lab has it")
  .addOption(
    new Option("--prefer <lab>", "the name to have")
      .argParser((value) => parse(labName, value, "--prefer"))
      .makeOptionMandatory(),
  )
  .addOption(
    new Option("--otherwise <lab>", "the name to take instead")
      .argParser((value) => parse(labName, value, "--otherwise"))
      .makeOptionMandatory(),
  )
  .action(
    async (o: { prefer: string; otherwise: string }) =>
      void process.stdout.write(`${await freeName(o.prefer, o.otherwise)}\n`),
  );

program
  .command("purge")
  .description("remove everything of a lab, of all labs, or of those whose time is over")
  .addOption(new Option("--lab <lab>", "name of the lab").argParser((value) => parse(labName, value, "--lab")))
  .addOption(new Option("--all", "all labs of this machine").conflicts("lab"))
  .addOption(
    new Option("--expired", "labs with nodes that have all expired (label `expires`)").conflicts(["lab", "all"]),
  )
  .action(async (o: { lab?: string; all?: true; expired?: true }) => {
    if (!o.lab && !o.all && !o.expired) throw new LabError("purge: --lab <lab>, --all or --expired is needed");
    const labs = o.lab ? [o.lab] : o.all ? await listLabs() : expiredLabs(await listSummaries());
    const purged = [];
    for (const name of labs) purged.push(await purgeLab(name));
    print({ purged, orphans: o.all ? await purgeOrphans() : [] });
  });
program
  .command("leftovers")
  .description("what exists of a lab on this machine; empty lists: nothing")
  .addOption(lab())
  .option("--json", "as JSON (it always is)")
  .action(async (o: { lab: string }) => print(await findLeftovers(o.lab)));

function fail(error: unknown): void {
  const known = error instanceof LabError;
  process.stderr.write(
    `lab: ${known ? error.message : `unexpected: ${error instanceof Error ? error.stack : String(error)}`}\n`,
  );
  process.exitCode = 1;
}

await program.parseAsync().catch(fail);
