/** Each bound at which mariadbd aborts, broken one by one. */

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  checkGaleraOptions,
  GALERA_DEFAULTS,
  GALERA_OPTIONS,
  parsePeriod,
} from "../../../infra/config/galera-options.ts";

test("what the server uses by itself passes, given or not", () => {
  assert.deepEqual(checkGaleraOptions({}, 0), []);
  assert.deepEqual(checkGaleraOptions({ ...GALERA_DEFAULTS }, 100), []);
});

/** options, the key that must be named, what must be allowed. */
const BROKEN: [string, Record<string, string>, string, RegExp][] = [
  ["keepalive below its least", { "evs.keepalive_period": "PT0.05S" }, "evs.keepalive_period", /PT0\.1S to a third/],
  [
    "keepalive above a third of suspect",
    { "evs.keepalive_period": "PT2S" },
    "evs.keepalive_period",
    /third of evs\.suspect_timeout/,
  ],
  [
    "suspect so short that keepalive is above its third",
    { "evs.suspect_timeout": "PT2S" },
    "evs.keepalive_period",
    /third/,
  ],
  [
    "suspect above inactive",
    { "evs.suspect_timeout": "PT20S" },
    "evs.suspect_timeout",
    /at most evs\.inactive_timeout/,
  ],
  [
    "install above inactive",
    { "evs.install_timeout": "PT16S" },
    "evs.install_timeout",
    /evs\.keepalive_period to evs\.inactive_timeout/,
  ],
  ["install below keepalive", { "evs.install_timeout": "PT0.5S" }, "evs.install_timeout", /evs\.keepalive_period/],
  [
    "user window above window",
    { "evs.user_send_window": "5" },
    "evs.user_send_window",
    /at most evs\.send_window \(4\)/,
  ],
  ["flow control factor above 1", { "gcs.fc_factor": "1.1" }, "gcs.fc_factor", /0\.0 to 1\.0/],
  ["weight above 254", { "pc.weight": "255" }, "pc.weight", /0 to 254/],
  ["weight no whole number", { "pc.weight": "1.5" }, "pc.weight", /0 to 254/],
  ["segment above 254", { "gmcast.segment": "300" }, "gmcast.segment", /0 to 254/],
  ["segment for all nodes", { "gmcast.segment": "1" }, "gmcast.segment", /per site/],
  ["no period", { "evs.suspect_timeout": "5" }, "evs.suspect_timeout", /a period such as/],
  ["no number", { "gcs.fc_factor": "half" }, "gcs.fc_factor", /a number/],
  [
    "an option that there is not",
    { "wsrep.magic": "1" },
    "wsrep.magic",
    /unknown Galera provider option; .*database\.variables/,
  ],
  [
    "a misspelled option",
    { "gcs.fc_limits": "16" },
    "gcs.fc_limits",
    /unknown Galera provider option; expected one of gcs\.fc_debug, gcs\.fc_factor, gcs\.fc_limit, /,
  ],
  [
    "an option that the topology writes",
    { "gmcast.listen_addr": "tcp://0.0.0.0" },
    "gmcast.listen_addr",
    /the topology sets it/,
  ],
  ["a second option hidden in a value", { "gcs.fc_limit": "16; pc.ignore_sb=true" }, "gcs.fc_limit", /semicolon/],
];
for (const [what, options, key, allowed] of BROKEN) {
  test(`${what} is named`, () => {
    const problems = checkGaleraOptions(options, 10);
    const own = problems.filter((p) => p.includes(`meshbench:database.options["${key}"]`));
    assert.ok(
      own.some((p) => allowed.test(p)),
      `${JSON.stringify(problems)} names ${key} and ${allowed}`,
    );
    for (const p of problems) assert.doesNotMatch(p, /\n/, "one sentence");
  });
}

test("timeouts must exceed the highest round trip", () => {
  const options = { "evs.keepalive_period": "PT0.3S", "evs.suspect_timeout": "PT1S" };
  assert.deepEqual(checkGaleraOptions(options, 100), []);
  assert.ok(checkGaleraOptions(options, 400).some((p) => p.includes('"evs.keepalive_period"') && p.includes("400 ms")));
  assert.ok(
    checkGaleraOptions(options, 1000).some((p) => p.includes('"evs.suspect_timeout"') && p.includes("1000 ms")),
  );
});

test("every option that galera-4 26.4 lists is known", () => {
  assert.equal(GALERA_OPTIONS.length, new Set(GALERA_OPTIONS).size);
  for (const name of [
    "evs.auto_evict",
    "gcache.recover",
    "pc.ignore_sb",
    "repl.max_ws_size",
    "socket.ssl_key",
    "debug",
  ])
    assert.ok(GALERA_OPTIONS.includes(name), name);
});

test("sizes with a suffix and published settings pass", () => {
  assert.deepEqual(
    checkGaleraOptions(
      { "gcs.fc_limit": "1000K", "gcache.size": "2G", "evs.send_window": "512", "evs.user_send_window": "256" },
      10,
    ),
    [],
  );
});

test("any consistent set of timeouts passes, whatever its scale", () => {
  const scaled = fc.tuple(
    fc.double({ min: 0.1, max: 10, noNaN: true }),
    fc.double({ min: 3, max: 20, noNaN: true }),
    fc.double({ min: 1, max: 5, noNaN: true }),
  );
  fc.assert(
    fc.property(scaled, ([keepalive, toSuspect, toInactive]) => {
      const suspect = keepalive * toSuspect,
        inactive = suspect * toInactive;
      const period = (seconds: number): string => `PT${seconds.toFixed(6)}S`;
      assert.deepEqual(
        checkGaleraOptions(
          {
            "evs.keepalive_period": period(Math.max(keepalive - 1e-6, 0.1)),
            "evs.suspect_timeout": period(suspect + 1e-5),
            "evs.inactive_timeout": period(inactive + 2e-5),
            "evs.install_timeout": period(suspect),
          },
          0,
        ),
        [],
      );
    }),
  );
});

test("periods are ISO 8601 durations", () => {
  assert.equal(parsePeriod("PT0.5S"), 0.5);
  assert.equal(parsePeriod(" PT7.5S "), 7.5);
  assert.equal(parsePeriod("PT1M30S"), 90);
  assert.equal(parsePeriod("P1DT1H"), 90_000);
  for (const wrong of ["", "P", "PT", "5", "5s", "PT5", "PT-1S", "T5S", "PT5S x", "PT1S1M"])
    assert.equal(parsePeriod(wrong), undefined, wrong);
  fc.assert(
    fc.property(fc.nat(1000), fc.nat(59), fc.nat(59), (h, m, s) => {
      assert.equal(parsePeriod(`PT${h}H${m}M${s}S`), h * 3600 + m * 60 + s);
    }),
  );
});
