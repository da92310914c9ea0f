changed=0
install -d -m 0755 "$(dirname '/etc/wireguard/mtu')"
umask_was=$(umask); umask 077; cat > '/etc/wireguard/mtu'.new <<'END_OF_FILE'
1360
END_OF_FILE
umask "$umask_was"; chmod 0644 '/etc/wireguard/mtu'.new
if cmp -s '/etc/wireguard/mtu'.new '/etc/wireguard/mtu'; then rm -f '/etc/wireguard/mtu'.new; else mv -f '/etc/wireguard/mtu'.new '/etc/wireguard/mtu'; changed=1; fi
ip link set wg0 mtu 1360
