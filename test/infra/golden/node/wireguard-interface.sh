last_words() {
  local id; id=$(systemctl show --property=InvocationID --value "$1" 2>/dev/null || true)
  if [ -n "$id" ]; then journalctl "_SYSTEMD_INVOCATION_ID=$id" + "INVOCATION_ID=$id" -n "$2" --no-pager -o cat 2>/dev/null || true
  else journalctl -u "$1" -n "$2" --no-pager -o cat 2>/dev/null || true; fi
}
conf=/etc/wireguard/wg0.conf
fixed() { grep -E '^(Address|MTU|ListenPort|PostUp)' "$conf" 2>/dev/null || true; }
before=$(fixed); changed=0
install -d -m 0755 "$(dirname '/etc/wireguard/wg0.conf')"
umask_was=$(umask); umask 077; cat > '/etc/wireguard/wg0.conf'.new <<'END_OF_FILE'
[Interface]
Address = 10.99.0.1/24
ListenPort = 51820
MTU = 1420
PostUp = wg set %i private-key /etc/wireguard/private.key

# east-2
[Peer]
PublicKey = PEER2=
AllowedIPs = 10.99.0.2/32
Endpoint = 192.0.2.2:51820

# west-1
[Peer]
PublicKey = PEER3=
AllowedIPs = 10.99.0.33/32
Endpoint = 198.51.100.1:51820
PersistentKeepalive = 25

# home-1
[Peer]
PublicKey = PEER4=
AllowedIPs = 10.99.0.49/32
END_OF_FILE
umask "$umask_was"; chmod 0600 '/etc/wireguard/wg0.conf'.new
if cmp -s '/etc/wireguard/wg0.conf'.new '/etc/wireguard/wg0.conf'; then rm -f '/etc/wireguard/wg0.conf'.new; else mv -f '/etc/wireguard/wg0.conf'.new '/etc/wireguard/wg0.conf'; changed=1; fi
systemctl enable --quiet wg-quick@wg0
if ! systemctl is-active --quiet wg-quick@wg0 || ! ip link show wg0 >/dev/null 2>&1; then
  systemctl restart wg-quick@wg0 || { last_words wg-quick@wg0 5 >&2; exit 1; }
elif [ "$before" != "$(fixed)" ]; then
  systemctl restart wg-quick@wg0
elif [ "$changed" = 1 ]; then
  wg syncconf wg0 <(wg-quick strip wg0 | awk 'NR == FNR { key = $0; next } { print } /^\[Interface\]/ { print "PrivateKey = " key }' /etc/wireguard/private.key -)
fi
