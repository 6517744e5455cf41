"""A shop that asks prescient to look whether its orders have shipped: place 42 19.90, postpone 42 3600, ship 42, look 42, or serve 8000."""
import base64, hmac, http.server, json, os, sys, time
import pymysql

SECRET = os.environ["SECRET"].encode() or sys.exit("SECRET is empty: anybody could sign")   # of jobs.http and of the route of events

def transaction(work, *arguments):
    for again in reversed(range(10)):
        with pymysql.connect(host=os.environ["DB_HOST"], port=int(os.environ["DB_PORT"]), user=os.environ["DB_USER"], password=os.environ["DB_PASSWORD"],
                             database=os.environ["DB_NAME"], cursorclass=pymysql.cursors.DictCursor) as db:   # closed, what did not commit is undone
            try:
                answer = work(db.cursor(), *arguments)
                db.commit()
                return answer
            except pymysql.MySQLError as e:   # a deadlock, or a row newer than the snapshot: from the beginning
                if e.args[0] not in (1213, 1020) or not again:
                    raise

def place(c, order, amount):   # the check is there if the order is
    c.execute("""INSERT INTO future_job (entity_name, entity_key, job_exec, due_at)
                 VALUES ('order', %s, 'order-unshipped', UTC_TIMESTAMP(6) + INTERVAL 3 HOUR)""", [order])
    c.execute("INSERT INTO orders (id, amount) VALUES (%s, %s)", [order, amount])

def postpone(c, order, seconds):   # the server counts in UTC, whatever the zone of this process
    c.execute("CALL put('order', %s, 'order-unshipped', '', UTC_TIMESTAMP(6) + INTERVAL %s SECOND, NULL, 'replace')", [order, int(seconds)])

def ship(c, order):
    c.execute("UPDATE orders SET shipped = TRUE WHERE id = %s", [order])
    c.execute("CALL cancel('order', %s, 'order-unshipped')", [order])
    c.execute("CALL publish('orders.shipped', %s, %s, %s)", [f"order/{order}", f"order-{order}-shipped", json.dumps({"order": order})])

def look(c, order):
    for which, column in ("pending", "due_at"), ("ended", "outcome"):
        c.execute(f"CALL {which}('order', %s)", [order])
        for check in c.fetchall():
            print(which, check["job_exec"], str(check[column])[:19])

def once(c, consumer, id):   # what is done after it in the transaction is done once for this id
    try:
        return c.execute("INSERT INTO event_seen (consumer, id, seen_at) VALUES (%s, %s, UTC_TIMESTAMP(6))", [consumer, id]) == 1
    except pymysql.IntegrityError as e:
        if e.args[0] != 1062:
            raise
        return False   # it was done before

def check(c, job):   # None settles the matter; otherwise it says when to look again
    if not c.execute("SELECT 1 FROM orders WHERE id = %s AND NOT shipped", [job["entity_key"]]):
        return None
    id = " ".join(str(job[member]) for member in ("entity_key", "inserted_at", "due_at", "check_count"))   # the header is not signed
    if once(c, "order-unshipped", id):
        c.execute("INSERT INTO mail VALUES (%s, 'is late')", [job["entity_key"]])
    return {"next_in": "1h"}

def event(c, id, shipped):
    if once(c, "mailer", id):
        c.execute("INSERT INTO mail VALUES (%s, 'is on its way')", [shipped["order"]])

def signed(body, before, seconds, given, encode):   # by somebody who has the secret, in the last minutes
    mac = encode(hmac.digest(SECRET, before.encode() + body, "sha256"))
    return hmac.compare_digest(mac.encode(), given.encode()) and seconds.isdecimal() and abs(time.time() - int(seconds)) < 300

class Shop(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body, header = self.rfile.read(int(self.headers.get("Content-Length", 0))), lambda name: self.headers.get(name, "")
        if self.path == "/checks/order-unshipped":
            of = dict(member.partition("=")[::2] for member in header("X-Prescient-Signature").split(","))
            seconds, work = of.get("t", ""), lambda c: check(c, json.loads(body))
            good = signed(body, f"{seconds}.", seconds, of.get("v1", ""), bytes.hex)
        else:
            id, seconds = header("webhook-id"), header("webhook-timestamp")
            work = lambda c: event(c, id, json.loads(body))
            good = signed(body, f"{id}.{seconds}.", seconds, header("webhook-signature"), lambda mac: "v1," + base64.b64encode(mac).decode())
        answer = transaction(work) if good else None
        self.send_response(200 if good else 401)
        self.end_headers()
        self.wfile.write(json.dumps(answer).encode() if good else b"")

if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    if command == "serve":
        http.server.ThreadingHTTPServer(("127.0.0.1", int(arguments[0])), Shop).serve_forever()
    transaction({"place": place, "postpone": postpone, "ship": ship, "look": look}[command], *arguments)
