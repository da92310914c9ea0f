read -r rest
export rest
python3 - <<'PY'
import base64, json, os, socket, sys, time, urllib.error, urllib.request

ADDRESSES = ["10.99.0.1","10.99.0.33","10.99.0.2"]
WANTED = json.loads(r'''{"ttl":40,"loop_wait":10,"retry_timeout":10,"synchronous_mode_strict":true,"synchronous_mode":true,"postgresql":{"use_pg_rewind":true,"use_slots":true,"parameters":{"max_connections":"100","synchronous_commit":"remote_apply","application_name":"it\u0027s"}}}''')
DEADLINE = time.monotonic() + 1800
LOGIN = "Basic " + base64.b64encode(("meshbench:" + os.environ["rest"]).encode()).decode()

def fail(text):
    sys.exit(socket.gethostname() + ": " + text)

def call(address, path, method="GET", body=None, timeout=10):
    request = urllib.request.Request(
        "http://%s:8008/%s" % (address, path), method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": LOGIN, "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()
    except OSError as error:
        return 0, str(error)

def look():
    states = {}
    for address in ADDRESSES:
        code, text = call(address, "patroni")
        states[address] = json.loads(text) if text.startswith("{") else {}
    return states

def primary(state):
    return state.get("role") in ("master", "primary")

def settled():
    """All run, one is the primary, and it sees all the others follow."""
    while True:
        states = look()
        leaders = [a for a in ADDRESSES if primary(states[a])]
        running = all(states[a].get("state") == "running" for a in ADDRESSES)
        streams = [r for a in leaders for r in states[a].get("replication", []) if r.get("state") == "streaming"]
        sync = [r for r in streams if r.get("sync_state") == "sync"]
        if running and len(leaders) == 1 and len(streams) >= len(ADDRESSES) - 1 and len(sync) >= 1:
            return states, leaders[0]
        if time.monotonic() > DEADLINE:
            fail("not all of %d servers run with one primary%s: %s" % (len(ADDRESSES), ", 1 of them synchronous" if 1 else "",
                ", ".join("%s %s %s" % (a, states[a].get("role", "without an answer"), states[a].get("state", "")) for a in ADDRESSES)))
        time.sleep(0.5)

code, text = call(ADDRESSES[0], "config")
if code != 200:
    fail("Patroni does not say its settings: %s" % text)
now = json.loads(text)
if now != WANTED:
    code, text = call(ADDRESSES[0], "config", "PUT", WANTED)
    if code != 200:
        fail("Patroni does not take its settings: %s" % text)
    # Each node reads them in its next round.
    time.sleep(max(now.get("loop_wait", 10), WANTED["loop_wait"]) + 2)
for attempt in range(3):
    states, leader = settled()
    pending = [a for a in ADDRESSES if states[a].get("pending_restart")]
    if not pending:
        break
    for address in [a for a in pending if a != leader] + [a for a in pending if a == leader]:
        print("%s: restarting the server at %s with changed settings" % (socket.gethostname(), address), file=sys.stderr)
        code, text = call(address, "restart", "POST", {"restart_pending": True}, 300)
        if code not in (200, 503):
            fail("the server at %s was not restarted: %s" % (address, text))
        settled()
    time.sleep(WANTED["loop_wait"] + 1)
else:
    fail("settings still wait for a restart on %s" % ", ".join(pending))
PY
