/** Words of a stack file that the engine and readers of YAML 1.2 take for different values are refused by key and line. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ambiguousScalars, stackFileFolders } from "../../../infra/config/plain-scalars.ts";

const FILE = `config:
  meshbench:expiresHours: 010
  meshbench:runId: 2026-01-02
  meshbench:database:
    variables: { umask: 0644, a: 1_000, b: -0b11 }
  meshbench:sites:
    - name: east
      nodes: 03
    - name: west
      dns: [089]
`;

test("octals, underscores, binary numbers and dates are named with what to write instead", () => {
  assert.deepEqual(ambiguousScalars(FILE, "Pulumi.dev.yaml"), [
    'meshbench:expiresHours: 010 in line 2 of Pulumi.dev.yaml, which readers of YAML take for different values; expected 10 for a decimal number, 0o10 for an octal one, "010" for a text',
    'meshbench:runId: 2026-01-02 in line 3 of Pulumi.dev.yaml, which readers of YAML take for different values; expected "2026-01-02", a text',
    'meshbench:database.variables.umask: 0644 in line 5 of Pulumi.dev.yaml, which readers of YAML take for different values; expected 644 for a decimal number, 0o644 for an octal one, "0644" for a text',
    'meshbench:database.variables.a: 1_000 in line 5 of Pulumi.dev.yaml, which readers of YAML take for different values; expected 1000 for a number, "1_000" for a text',
    'meshbench:database.variables.b: -0b11 in line 5 of Pulumi.dev.yaml, which readers of YAML take for different values; expected -3 for a number, "-0b11" for a text',
    'meshbench:sites[0].nodes: 03 in line 8 of Pulumi.dev.yaml, which readers of YAML take for different values; expected 3 for a decimal number, 0o3 for an octal one, "03" for a text',
    'meshbench:sites[1].dns[0]: 089 in line 10 of Pulumi.dev.yaml, which readers of YAML take for different values; expected 89 for a decimal number, "089" for a text',
  ]);
});

test("what every reader takes alike passes: quoted, 1.2's own octals, times of day, words, what an anchor stands for", () => {
  const fine = `\uFEFF# 010
config:\r
  meshbench:a: "010"
  meshbench:b: '2026-01-02'
  meshbench:c: 0o10
  meshbench:d: 0x1f
  meshbench:e: 22:30
  meshbench:f: on
  meshbench:g: 0
  meshbench:h: 0.5
  meshbench:i: 1e3
  meshbench:j: 10.99.0.0/24
  meshbench:k: &all { x: 1 }
  meshbench:l: *all
  010: 1
  meshbench:cost: { asOf: 2026-01-31 }
  meshbench:m: |
    010
environment:
  - bench/tokens
`;
  assert.deepEqual(ambiguousScalars(fine, "f"), []);
  assert.deepEqual(ambiguousScalars("a: [", "f"), [], "no YAML: its reader says so");
  assert.deepEqual(ambiguousScalars("", "f"), []);
});

test("beside a copy for the engine, the file that it was made from; of any other folder none but that", () => {
  assert.deepEqual(stackFileFolders("/home/ada/bench/.meshbench/project"), [
    "/home/ada/bench/.meshbench/project",
    "/home/ada/bench",
  ]);
  assert.deepEqual(stackFileFolders("/home/ada/project"), ["/home/ada/project"]);
});
