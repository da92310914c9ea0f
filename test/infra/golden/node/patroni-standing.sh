[ -e /etc/patroni/meshbench.env ] || exit 0
systemctl is-enabled --quiet patroni 2>/dev/null || exit 0
last_words() {
  local id; id=$(systemctl show --property=InvocationID --value "$1" 2>/dev/null || true)
  if [ -n "$id" ]; then journalctl "_SYSTEMD_INVOCATION_ID=$id" + "INVOCATION_ID=$id" -n "$2" --no-pager -o cat 2>/dev/null || true
  else journalctl -u "$1" -n "$2" --no-pager -o cat 2>/dev/null || true; fi
}
address=$(sed -n 's/^  connect_address: \(.*\):8008$/\1/p' /etc/patroni/config.yml | head -n 1)
for _ in $(seq 240); do if curl -fs -m 3 -o /dev/null "http://$address:8008/read-only"; then exit 0; fi; sleep 0.5; done
echo "$(hostname): Patroni's server is neither primary nor replica: $(last_words patroni 1)" >&2
exit 1
