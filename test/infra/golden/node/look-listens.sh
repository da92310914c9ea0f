for port in 3306 9200; do ss -Hltn "sport = :$port" | grep -q . && echo "$port" || true; done
