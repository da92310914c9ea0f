read -r root
read -r patroni
well() { curl -fs -m 3 "http://$1:2379/health" 2>/dev/null | grep -q '"health":"true"'; }
export ETCDCTL_API=3
listed() { etcdctl --command-timeout=10s member list 2>/dev/null; }
as_root() { ETCDCTL_USER="root:$root" etcdctl --command-timeout=10s "$@"; }
fail() { echo "$(hostname): $*" >&2; exit 1; }
changed=0
install -d -m 0755 "$(dirname '/etc/systemd/system/etcd.service.d/10-meshbench.conf')"
umask_was=$(umask); umask 077; cat > '/etc/systemd/system/etcd.service.d/10-meshbench.conf'.new <<'END_OF_FILE'
[Unit]
After=wg-quick@wg0.service
Wants=wg-quick@wg0.service
StartLimitIntervalSec=0

[Service]
Type=exec
Restart=always
RestartSec=1
Environment=ETCD_NAME=west-1
Environment=ETCD_DATA_DIR=/var/lib/etcd/meshbench
Environment=ETCD_LISTEN_CLIENT_URLS=http://10.99.0.33:2379
Environment=ETCD_ADVERTISE_CLIENT_URLS=http://10.99.0.33:2379
Environment=ETCD_LISTEN_PEER_URLS=http://10.99.0.33:2380
Environment=ETCD_INITIAL_ADVERTISE_PEER_URLS=http://10.99.0.33:2380
Environment=ETCD_HEARTBEAT_INTERVAL=150
Environment=ETCD_ELECTION_TIMEOUT=1500
Environment=ETCD_AUTO_COMPACTION_RETENTION=1
Environment=ETCD_ENABLE_V2=false
EnvironmentFile=-/etc/default/meshbench-etcd
END_OF_FILE
umask "$umask_was"; chmod 0644 '/etc/systemd/system/etcd.service.d/10-meshbench.conf'.new
if cmp -s '/etc/systemd/system/etcd.service.d/10-meshbench.conf'.new '/etc/systemd/system/etcd.service.d/10-meshbench.conf'; then rm -f '/etc/systemd/system/etcd.service.d/10-meshbench.conf'.new; else mv -f '/etc/systemd/system/etcd.service.d/10-meshbench.conf'.new '/etc/systemd/system/etcd.service.d/10-meshbench.conf'; changed=1; fi
systemctl daemon-reload
other=
for address in 10.99.0.33 10.99.0.2; do if well "$address"; then other=$address; break; fi; done
if [ ! -d /var/lib/etcd/meshbench/member ]; then
  systemctl stop etcd 2>/dev/null || true
  rm -rf /var/lib/etcd/meshbench
  state=existing
  if [ -n "$other" ]; then
    export ETCDCTL_ENDPOINTS=http://$other:2379
    deadline=$((SECONDS + 120))
    # Of a machine that stood here before: its data are gone.
    for old in $(listed | awk -F', ' '$4 == "http://10.99.0.33:2380" && $2 == "started" { print $1 }'); do as_root member remove "$old" >/dev/null; done
    initial=$(listed | awk -F', ' '$4 != "http://10.99.0.33:2380" { print $3 "=" $4 }' | paste -sd,)
    until listed | grep -qF "http://10.99.0.33:2380"; do
      # Refused for some seconds after another one has entered.
      why=$(as_root member add west-1 --peer-urls=http://10.99.0.33:2380 2>&1 >/dev/null | tail -n 1 || true)
      if listed | grep -qF "http://10.99.0.33:2380"; then break; fi
      [ $SECONDS -lt $deadline ] || fail "etcd takes no further member within 120 s: $why"
      sleep 1
    done
    initial=$initial,west-1=http://10.99.0.33:2380
  else
    fail "no member of etcd answers; expected the first one"
  fi
  printf 'ETCD_INITIAL_CLUSTER=%s\nETCD_INITIAL_CLUSTER_STATE=%s\nETCD_INITIAL_CLUSTER_TOKEN=meshbench\n' "$initial" "$state" > /etc/default/meshbench-etcd
  changed=1
fi
systemctl enable --quiet etcd
if [ "$changed" = 1 ] || ! systemctl is-active --quiet etcd; then
  systemctl reset-failed etcd 2>/dev/null || true
  systemctl restart etcd || fail "etcd does not start: $(journalctl -u etcd -n 1 --no-pager -o cat)"
fi
deadline=$((SECONDS + 120))
until well 10.99.0.33; do
  [ $SECONDS -lt $deadline ] || fail "etcd finds no leader within 120 s: $(journalctl -u etcd -n 1 --no-pager -o cat)"
  sleep 0.2
done
export ETCDCTL_ENDPOINTS=http://10.99.0.33:2379
if etcdctl --command-timeout=10s get meshbench >/dev/null 2>&1; then
  printf '%s\n' "$root" | etcdctl user add root --interactive=false >/dev/null 2>&1 || true
  etcdctl role add root >/dev/null 2>&1 || true
  etcdctl user grant-role root root >/dev/null
  printf '%s\n' "$patroni" | etcdctl user add patroni --interactive=false >/dev/null 2>&1 || true
  etcdctl role add patroni >/dev/null 2>&1 || true
  etcdctl role grant-permission patroni readwrite --prefix=true /service/ >/dev/null
  etcdctl user grant-role patroni patroni >/dev/null
  etcdctl auth enable >/dev/null || fail "etcd's authentication could not be switched on"
fi
