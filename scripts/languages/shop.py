"""A shop that asks prescient to look whether its orders have shipped: place 42 19.90, postpone 42 3600, ship 42, or look 42."""
import json, os, sys
import pymysql

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

if __name__ == "__main__":
    command, *arguments = sys.argv[1:]
    transaction({"place": place, "postpone": postpone, "ship": ship, "look": look}[command], *arguments)
