/** Every study that is shipped can be planned, at every scale: what is missing at most is what only its user knows. */
import assert from "node:assert/strict";
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { cellsOf, parseStudy, StudyError } from "../../cli/study/file.ts";
import { readStackFile } from "../../cli/study/stack.ts";
import { checkout } from "../../tools/paths.ts";

/** Of a cloud's account or network, which nobody else can know. */
const THE_USERS = /: missing; expected |"ssh-ed25519 \(of the /;
/** Studies with a cloud or hosts of the user's own. */
const NOT_LOCAL = ["studies/hybrid-galera.yaml", "studies/storage.yaml"];

for (const file of globSync("studies/*.yaml", { cwd: checkout }).sort()) {
  const study = parseStudy(readFileSync(join(checkout, file), "utf8"), file);
  for (const scale of [undefined, ...Object.keys(study.scales)])
    test(`${file}, scale ${scale ?? "as it is"}`, () => {
      try {
        assert.ok(cellsOf(study, scale, readStackFile).length > 0);
      } catch (error) {
        assert.ok(error instanceof StudyError, String(error));
        assert.ok(NOT_LOCAL.includes(file), error.message);
        for (const line of error.message.split("\n")) assert.match(line, THE_USERS);
      }
    });
}
