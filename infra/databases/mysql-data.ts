/** What MariaDB and MySQL have in common about where data lie. Pure text. */
import type { DatabaseHost } from "./engine.ts";

/**
 * `keepsDataIn`: the answer of the servers that run, their command lines, what their option files come to, and their
 * units. A state transfer replaces what is in such a directory.
 */
export const MYSQL_DATA: Pick<DatabaseHost, "dataDirectory" | "keepsDataIn" | "foreign"> = {
  dataDirectory: "/var/lib/mysql",
  foreign: `for directory in /var/lib/mysql/*/; do
  case "$(basename "$directory")" in mysql|performance_schema|sys|lost+found) ;; *) echo "$directory" ;; esac
done`,
  keepsDataIn: `for socket in $(awk '$NF ~ /^\\/.*sock$/ { print $NF }' /proc/net/unix | sort -u); do
  for client in mariadb mysql; do
    command -v $client >/dev/null 2>&1 || continue
    case "$socket" in *mysql*|*maria*) timeout 5 $client --socket="$socket" --connect-timeout=2 -N -B -e 'SELECT @@datadir' 2>/dev/null && break ;; esac
  done
done
for process in $(pgrep -x 'mariadbd|mysqld' || true); do tr '\\0' '\\n' < "/proc/$process/cmdline" 2>/dev/null | sed -n 's/^--datadir=//p'; done
for server in mariadbd mysqld; do
  binary=$(PATH=$PATH:/usr/sbin:/usr/local/sbin command -v $server) || continue
  timeout 20 "$binary" --no-defaults --version >/dev/null 2>&1 || continue
  timeout 20 "$binary" --verbose --help 2>/dev/null | awk '$1 ~ /^(datadir|innodb-data-home-dir|innodb-log-group-home-dir|innodb-undo-directory)$/ && $2 ~ /^\\// { print $2 }'
done
systemctl cat mariadb mysql mysqld 2>/dev/null | sed -nE 's/^Exec.*--datadir[= ]([^ ]+).*/\\1/p'`,
};
