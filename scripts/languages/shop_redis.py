"""The shop's events from a stream of Redis. Once before it: XGROUP CREATE orders.shipped mailer 0 MKSTREAM"""
import json, os, redis
from shop import transaction
from shop_http import event

r = redis.Redis.from_url(os.environ["REDIS_URL"])
last = "0"   # first what it had in hand when it died; then ">", what is new
while True:
    for _, messages in r.xreadgroup("mailer", "m1", {"orders.shipped": last}, count=100, block=0):
        last = last if messages else ">"
        for entry, message in messages:
            if not message:   # the stream was trimmed below what it had in hand
                print("trimmed, and so lost:", entry)
            else:
                transaction(lambda c: event(c, message[b"id"].decode(), json.loads(message[b"payload"])))
            r.xack("orders.shipped", "mailer", entry)
