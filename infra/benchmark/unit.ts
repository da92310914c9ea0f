/** The run on the driver node: a systemd unit, so that no SSH session has to live as long as it does. Pure text. */

import { writeFile } from "../scripts.ts";
import { shellQuote } from "../shell.ts";

export const RUNS_DIR = "/var/lib/meshbench/runs";
export const PASSWORD_FILE = "/etc/meshbench/database-password";
/** Stands in the spec until the driver begins: the moment is part of the id. */
export const RUN_ID_PLACEHOLDER = "@run-id@";

const UNIT = `[Unit]
Description=meshbench run %i

[Service]
Type=exec
ExecStart=/bin/bash ${RUNS_DIR}/%i/command
StandardOutput=null
StandardError=append:${RUNS_DIR}/%i/log
LimitNOFILE=65536
TimeoutStopSec=60
`;

/** stdin: a line with the password, then the spec. A spec that is already there stays: its run may be under way. */
export function installScript(
  runKey: string,
  runtime: string,
  bundle: string,
  counters?: { host: string; port: number },
): string {
  const dir = `${RUNS_DIR}/${runKey}`;
  // A proxy that does not answer leaves an empty file: the run counts all the same.
  const reading = (when: string): string =>
    counters === undefined
      ? ""
      : `${runtime} -e 'fetch(process.argv[1], { signal: AbortSignal.timeout(5000) }).then((r) => r.text()).then((t) => process.stdout.write(t), () => {})' http://${counters.host}:${counters.port}/ > routing-${when}.json\n`;
  const command = `cd ${dir}
rm -f exit
${reading("before")}${runtime} ${bundle} bench --spec spec.json --out result.json --status status.json
code=$?
${reading("after")}echo $code > exit
exit $code
`;
  return `read -r password
install -d -m 0700 /etc/meshbench
(umask 077; printf '%s\\n' "$password" > ${PASSWORD_FILE}.new; mv -f ${PASSWORD_FILE}.new ${PASSWORD_FILE})
install -d -m 0755 ${dir}
cat > ${dir}/spec.new
if [ -e ${dir}/spec.json ]; then rm ${dir}/spec.new
else sed -i "s/${RUN_ID_PLACEHOLDER}/$(date -u +%Y%m%dT%H%M%SZ)-${runKey.slice(0, 6)}/" ${dir}/spec.new; mv ${dir}/spec.new ${dir}/spec.json; fi
${writeFile(`${dir}/command`, command)}
${writeFile("/etc/systemd/system/meshbench-run@.service", UNIT)}
systemctl daemon-reload`;
}

/** Starts the run unless it is under way or has completed. */
export function startScript(runKey: string): string {
  const unit = `meshbench-run@${runKey}.service`;
  return `if [ "$(cat ${RUNS_DIR}/${runKey}/exit 2>/dev/null)" != 0 ] && ! systemctl is-active --quiet ${unit}; then
  systemctl reset-failed ${unit} 2>/dev/null || true
  systemctl start ${unit}
fi`;
}

/**
 * For several drivers: what an earlier attempt left is no part of the next one, in which all take part from its
 * beginning.
 */
export function restartScript(runKey: string): string {
  const unit = `meshbench-run@${runKey}.service`,
    dir = `${RUNS_DIR}/${runKey}`;
  return `systemctl stop ${unit} 2>/dev/null || true
systemctl reset-failed ${unit} 2>/dev/null || true
rm -f ${dir}/exit ${dir}/result.json ${dir}/log
systemctl start ${unit}`;
}

/** First line: `<unit state> <exit code or ->`; then what the log holds beyond `offset` bytes, 64 KiB at most. */
export function pollScript(runKey: string, offset: number): string {
  const dir = `${RUNS_DIR}/${runKey}`;
  return `state=$(systemctl is-active meshbench-run@${runKey}.service || true)
echo "$state $(cat ${dir}/exit 2>/dev/null || echo -)"
tail -c +${offset + 1} ${shellQuote(`${dir}/log`)} 2>/dev/null | head -c 65536 || true`;
}

/** The unit has come to an end, or never began. */
export const isOver = (poll: Pick<Poll, "state">): boolean =>
  !["active", "activating", "deactivating", "reloading"].includes(poll.state);

export interface Poll {
  state: string;
  exit: number | null;
  log: Buffer;
}

export function parsePoll(output: Buffer): Poll {
  const end = output.indexOf(10);
  const [state = "", exit = "-"] = output.subarray(0, end).toString().split(" ");
  return { state, exit: exit === "-" ? null : Number(exit), log: output.subarray(end + 1) };
}
