/** Samples of a node's system, and what they say of a window. The samples are made by hand. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { test } from "node:test";
import fc from "fast-check";
import { SAMPLER } from "../../../infra/benchmark/hosts.ts";
import { hostLoad, parseSamples, type Samples } from "../../../infra/benchmark/hosts-parse.ts";
import { hostLoadSchema } from "../../../workloads/contract.ts";

const HEADER = "meshbench-hosts 1 source=machine cores=2";
const CONTAINER = "meshbench-hosts 1 source=container cores=4";
const parsed = (...lines: string[]): Samples => parseSamples(`${lines.join("\n")}\n`)!;
/** user, idle, iowait, steal in ticks. */
const cpu = (user: number, idle: number, iowait = 0, steal = 0): string =>
  `cpu=${user},0,0,${idle},${iowait},0,0,${steal}`;

test("a line is read part by part, and what the node lacks is absent", () => {
  const { source, cores, samples } = parsed(
    HEADER,
    "up=10.50 cpu=1,2,3,4,5,6,7,8 own=9 mem=1024 disk=10,11 net=12,13",
    "up=11.50 mem=2048",
  );
  assert.deepEqual([source, cores], ["machine", 2]);
  assert.deepEqual(samples[0], {
    up: 10.5,
    cpu: [1, 2, 3, 4, 5, 6, 7, 8],
    own: 9,
    mem: 1024,
    disk: [10, 11],
    net: [12, 13],
  });
  assert.deepEqual(samples[1], {
    up: 11.5,
    cpu: undefined,
    own: undefined,
    mem: 2048,
    disk: undefined,
    net: undefined,
  });
});

test("an empty file, one without a header and a line that was cut off are no samples", () => {
  assert.equal(parseSamples(""), undefined);
  assert.equal(parseSamples("up=1.00 mem=1\n"), undefined);
  assert.equal(parseSamples("meshbench-hosts 1 source=machine cor"), undefined);
  assert.deepEqual(
    parseSamples(`${HEADER}\nup=1.00 mem=1\nup=2.00 mem=12`)!.samples.map((s) => s.up),
    [1],
    "the last line has no end: its figure may lack digits",
  );
  assert.deepEqual(
    parsed(HEADER, "up=1.00 cpu=1,2,3", "up= mem=1", "noise", "up=3.00 cpu=1,,3").samples.map((s) => [s.up, s.cpu]),
    [[1, undefined]],
    "a part of another length is no part",
  );
});

test("a container's limit is what its share is taken of, and a sampler that began again is one file", () => {
  assert.equal(parsed(`${CONTAINER} quota=150000/100000`).cores, 1.5);
  assert.equal(parsed(`${CONTAINER} quota=900000/100000`).cores, 4, "a limit above the processors limits nothing");
  const again = parsed(HEADER, "up=1.00 mem=1", HEADER, "up=9.00 mem=2");
  assert.deepEqual(
    again.samples.map((s) => s.up),
    [1, 9],
  );
});

test("CPU, steal and iowait of a machine; memory's low point; bytes", () => {
  const samples = parsed(
    HEADER,
    `up=100.00 ${cpu(0, 0)} mem=4096000 disk=0,0 net=0,0`,
    `up=101.00 ${cpu(100, 100)} mem=2048000 disk=8,16 net=1000,500`,
    `up=102.00 ${cpu(280, 100, 10, 10)} mem=1024000 disk=8,32 net=3000,700`,
  );
  const load = hostLoad("east-1", samples, 100, 102);
  assert.deepEqual(load, hostLoadSchema.parse(load));
  assert.deepEqual(load, {
    node: "east-1",
    source: "machine",
    cores: 2,
    samples: 3,
    cpu: { min: 50, avg: 70, max: 90 },
    machine: {
      cpu: { min: 50, avg: 70, max: 90 },
      steal: { min: 0, avg: 2.5, max: 5 },
      iowait: { min: 0, avg: 2.5, max: 5 },
      memoryAvailableMinMb: 1000,
      diskReadBytes: 4096,
      diskWrittenBytes: 16384,
    },
    mesh: { receivedBytes: 3000, sentBytes: 700 },
  });
});

test("a container's CPU is its own, beside that of the machine it shares", () => {
  const samples = parsed(
    CONTAINER,
    `up=1.00 ${cpu(0, 0)} own=5000000`,
    `up=2.00 ${cpu(200, 200)} own=6000000`,
    `up=3.00 ${cpu(600, 200)} own=6000000`,
  );
  const load = hostLoad("n", samples, 1, 3);
  assert.deepEqual(
    load.cpu,
    { min: 0, avg: 12.5, max: 25 },
    "one of four processors in the first second, none in the next",
  );
  assert.deepEqual(load.machine!.cpu, { min: 50, avg: 75, max: 100 });
  assert.equal(
    hostLoad("n", parsed(CONTAINER, `up=1.00 ${cpu(0, 0)}`, `up=2.00 ${cpu(1, 1)}`), 1, 2).cpu,
    undefined,
    "the machine's is never shown as the container's",
  );
});

test("what lies across the window's edge counts by its share inside; a short piece makes no extreme", () => {
  const samples = parsed(
    HEADER,
    `up=0.00 ${cpu(0, 0)} net=0,0`,
    `up=1.00 ${cpu(200, 0)} net=1000,0`,
    `up=2.00 ${cpu(300, 100)} net=2000,0`,
    `up=3.00 ${cpu(300, 300)} net=3000,0`,
  );
  const load = hostLoad("n", samples, 0.75, 2.5);
  assert.deepEqual(load.mesh, { receivedBytes: 1750, sentBytes: 0 });
  assert.deepEqual(
    load.cpu,
    { min: 0, avg: 42.9, max: 50 },
    "a quarter of the first second is too little to say that its 100 % were in the window",
  );
});

test("a gap in the samples: counters bridge it, and what is not covered is said", () => {
  const samples = parsed(
    HEADER,
    `up=0.00 ${cpu(0, 0)} mem=2048 net=0,0`,
    `up=1.00 ${cpu(100, 100)} mem=2048 net=100,0`,
    `up=6.00 ${cpu(1100, 100)} mem=1024 net=1100,0`,
  );
  const bridged = hostLoad("n", samples, 1, 6);
  assert.deepEqual([bridged.cpu!.avg, bridged.mesh!.receivedBytes, bridged.gap], [100, 1000, undefined]);
  assert.equal(hostLoad("n", samples, 4, 12).gap, "samples cover 2.0 of 8.0 s");
  assert.deepEqual(hostLoad("n", samples, 20, 25), { node: "n", source: "machine", gap: "no samples in this window" });
  assert.deepEqual(hostLoad("n", samples, 3, 4).machine!.memoryAvailableMinMb, 1, "no sample inside: those around it");
});

test("counters that fall: an interface that began again counts from zero, the kernel's corrections are none", () => {
  const samples = parsed(
    HEADER,
    `up=0.00 ${cpu(0, 500, 50, 9)} net=1000,4294967290`,
    `up=1.00 ${cpu(100, 600, 40, 8)} net=70,20`,
  );
  const load = hostLoad("n", samples, 0, 1);
  assert.deepEqual(load.mesh, { receivedBytes: 70, sentBytes: 20 });
  assert.deepEqual([load.cpu!.avg, load.machine!.iowait.avg, load.machine!.steal.avg], [50, 0, 0]);
  const still = hostLoad("n", parsed(HEADER, `up=0.00 ${cpu(5, 5)}`, `up=1.00 ${cpu(5, 5)}`), 0, 1);
  assert.equal(still.cpu, undefined, "no ticks, no per cent");
});

test("whatever a file holds, no figure is negative, not a number or above 100 %", () => {
  const line = fc
    .record({
      up: fc.nat(50),
      cpu: fc.array(fc.nat(1000), { minLength: 8, maxLength: 8 }),
      own: fc.nat(1e8),
      net: fc.tuple(fc.nat(), fc.nat()),
    })
    .map((s) => `up=${s.up}.00 cpu=${s.cpu} own=${s.own} net=${s.net}`);
  fc.assert(
    fc.property(
      fc.constantFrom(HEADER, CONTAINER),
      fc.array(fc.oneof(line, fc.string())),
      fc.nat(50),
      fc.nat(20),
      (header, lines, from, length) => {
        const load = hostLoad("n", parsed(header, ...lines), from, from + length);
        hostLoadSchema.parse(load);
        for (const spread of [load.cpu, load.machine?.cpu, load.machine?.steal, load.machine?.iowait])
          if (spread)
            assert.ok(
              Object.values(spread).every((v) => v >= 0 && v <= 100),
              JSON.stringify(load),
            );
        if (load.mesh) assert.ok(load.mesh.receivedBytes >= 0 && load.mesh.sentBytes >= 0);
      },
    ),
  );
});

test("the sampler itself, on this machine: lines that the parser takes, with growing counters", async () => {
  const child = spawn("bash", ["-c", SAMPLER], { stdio: ["ignore", "pipe", "inherit"] });
  let text = "";
  await new Promise<void>((resolve, reject) => {
    child.once("close", () => reject(new Error(`it ended: ${text}`)));
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (text.split("\n").length > 4) resolve();
    });
  }).finally(() => {
    child.removeAllListeners("close");
    child.kill("SIGKILL");
  });
  const { cores, samples } = parseSamples(text)!;
  assert.ok(cores > 0);
  assert.ok(samples.length >= 3);
  assert.ok(
    samples.every((s, i) => s.cpu!.length === 8 && s.mem! > 0 && (i === 0 || s.up > samples[i - 1]!.up)),
    text,
  );
  assert.ok(hostLoad("here", { source: "machine", cores, samples }, samples[0]!.up, samples[2]!.up).cpu!.avg >= 0);
});
