"""What the worker calls, with a check and with an event: python3 shop_http.py 8000"""
import base64, hmac, http.server, json, os, sys, time
from shop import once, transaction

SECRET = os.environ["SECRET"].encode() or sys.exit("SECRET is empty: anybody could sign")   # of jobs.http and of the route of events

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
    http.server.ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Shop).serve_forever()
