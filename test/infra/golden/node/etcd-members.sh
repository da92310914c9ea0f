read -r root
export ETCDCTL_API=3
listed() { etcdctl --command-timeout=10s member list 2>/dev/null; }
as_root() { ETCDCTL_USER="root:$root" etcdctl --command-timeout=10s "$@"; }
export ETCDCTL_ENDPOINTS=http://10.99.0.1:2379
deadline=$((SECONDS + 120))
for id in $(listed | awk -F', ' '$4 != "http://10.99.0.1:2380" && $4 != "http://10.99.0.33:2380" && $4 != "http://10.99.0.2:2380" { print $1 }'); do
  until as_root member remove "$id" >/dev/null 2>&1; do
    [ $SECONDS -lt $deadline ] || { echo "$(hostname): etcd keeps the member $id: $(as_root member remove "$id" 2>&1 | tail -n 1)" >&2; exit 1; }
    sleep 1
  done
done
