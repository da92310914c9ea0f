try_port() {
  local said code=0 state=silent
  said=$(LC_ALL=C timeout 8 bash -c "</dev/tcp/$2/$3" 2>&1) || code=$?
  if [ $code = 0 ]; then state=open; elif grep -q refused <<<"$said"; then state=refused; fi
  echo "port $1 $3 $state"
}
try_port east-1 10.99.0.1 3306 &
try_port west-1 10.99.0.33 9200 &
wait
