if systemctl is-enabled --quiet etcd 2>/dev/null || systemctl is-active --quiet etcd; then systemctl disable --quiet --now etcd; fi
rm -rf /var/lib/etcd/meshbench /etc/default/meshbench-etcd /etc/systemd/system/etcd.service.d/10-meshbench.conf
systemctl daemon-reload
