read -r up _ < /proc/uptime
LC_ALL=C
echo "$up $EPOCHREALTIME"
