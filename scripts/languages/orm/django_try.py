"""What of prescient's tables to map with Django (3.2.25, PyMySQL 1.0.2), and what not. It was tried as app-sql, and each line here is run.

Map of future_job what an app gives, with managed = False. Django wants one primary key, and adds an id where none is named, which MariaDB
refuses (1143): name entity_key, and make checks by objects.create alone.
- save(force_insert=False) is an UPDATE first, get_or_create and update_or_create a SELECT first: both are refused (1142). To look, to replace
  and to cancel, send the CALLs by connection.cursor(): they are in the transaction of the atomic block.
- With USE_TZ = True fields of a model are sent in UTC. With USE_TZ = False timezone.now() is the time of the process's zone, and would be hours off.
- In a CALL give a time as SQL, or naive and UTC: PyMySQL drops the offset of an aware one without a word, so that noon at +05:00 becomes noon.
- A duplicate is an IntegrityError, 1062, after which the block takes no query more: put the create into an atomic block of its own.
- bulk_create(ignore_conflicts=True) is an INSERT IGNORE, which leaves a check out without an error.
"""
import datetime, os
import django, pymysql
from django.conf import settings

pymysql.version_info = (1, 4, 2, "final", 0)   # Django asks for that of mysqlclient
pymysql.install_as_MySQLdb()
settings.configure(USE_TZ=True, TIME_ZONE="America/Caracas", DATABASES={"default": {"ENGINE": "django.db.backends.mysql", "NAME": os.environ["DB_NAME"],
    "USER": os.environ["DB_USER"], "PASSWORD": os.environ["DB_PASSWORD"], "HOST": os.environ["DB_HOST"], "PORT": os.environ["DB_PORT"]}})
django.setup()
from django.db import DatabaseError, connection, models, transaction
from django.utils import timezone

class Order(models.Model):
    id = models.IntegerField(primary_key=True)
    amount = models.DecimalField(max_digits=10, decimal_places=2)
    shipped = models.BooleanField(default=False)
    class Meta:
        managed, db_table, app_label = False, "orders", "shop"

class Check(models.Model):
    entity_name = models.CharField(max_length=64)
    entity_key = models.CharField(max_length=128, primary_key=True)   # to Django alone
    job_exec = models.CharField(max_length=64)
    tag = models.CharField(max_length=64, default="", blank=True)
    due_at = models.DateTimeField()
    payload = models.JSONField(null=True)
    expires_at = models.DateTimeField(null=True)
    class Meta:
        managed, db_table, app_label = False, "future_job", "shop"

def call(text, *values):
    with connection.cursor() as c:
        c.execute(text, values)
        return c.fetchall()

def pending(key):
    return call("CALL pending('order', %s)", key)

def of(key, **more):
    return {"entity_name": "order", "entity_key": key, "job_exec": "order-unshipped", "due_at": due, **more}

def refused(number, work):
    try:
        with transaction.atomic():
            work()
    except DatabaseError as e:
        assert e.args[0] == number, e
    else:
        raise AssertionError(f"it is not refused by {number}")

due = timezone.now() + datetime.timedelta(hours=3)
with transaction.atomic():
    Order.objects.create(id=1, amount=5)
    Check.objects.create(**of("1", payload={"a": 1}))
try:
    with transaction.atomic():
        Check.objects.create(**of("2"))
        Order.objects.create(id=2, amount=0)   # the CHECK of the shop
except DatabaseError:
    pass
assert pending("1")[0][4] == due.replace(tzinfo=None) and pending("1")[0][10] == '{"a": 1}' and not pending("2")
with transaction.atomic():
    Check.objects.create(**of("3", due_at=datetime.datetime(2035, 1, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=5)))))
    assert pending("3")[0][4] == datetime.datetime(2035, 1, 1, 7) and pending("3")[0][10] is None
    refused(1062, lambda: Check.objects.create(**of("1")))
    did, at, _ = call("CALL put('order', '1', 'order-unshipped', '', %s, NULL, 'replace')", datetime.datetime(2035, 1, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=5))))[0]
    assert did == "replaced" and at == datetime.datetime(2035, 1, 1, 12)   # five hours late
    assert call("CALL cancel('order', '1', NULL)") == ((1,),) and not pending("1")
try:
    with transaction.atomic():
        try:
            Check.objects.create(**of("3"))
        except DatabaseError:
            pending("3")
    raise AssertionError("the block goes on after a duplicate")
except transaction.TransactionManagementError:
    pass
Check.objects.bulk_create([Check(**of("3")), Check(**of("4"))], ignore_conflicts=True)
assert pending("3")[0][4].year == 2035 and len(pending("4")) == 1
refused(1142, lambda: Check(**of("5")).save())
refused(1142, lambda: Check.objects.get_or_create(**of("5")))
refused(1142, lambda: Check.objects.update_or_create(entity_name="order", entity_key="5", job_exec="order-unshipped", defaults={"due_at": due}))
print("Django", django.__version__)
