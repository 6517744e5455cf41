"""What of prescient's tables to map with SQLAlchemy (1.4.46, PyMySQL 1.0.2), and what not. It was tried as app-sql, and each line here is run.

Map of future_job what an app gives: the four names, due_at, payload, expires_at. The names are the primary key to SQLAlchemy.
Leave out what the server fills in: None in such a column is sent, and refused (1143). Reflection is refused, too (1142).
- A time is naive and UTC. PyMySQL drops the offset of an aware one without a word: noon at +05:00 becomes noon.
- payload is JSON(none_as_null=True), or None becomes the text null.
- app-sql may not SELECT here: whatever reads back fails (1142), such as a time that was given as SQL, or any attribute after the commit.
  To look, to replace and to cancel, send the CALLs in the session: they are in its transaction.
- on_duplicate_key_update and merge are refused. A duplicate is an IntegrityError, 1062: within begin_nested() the rest of the transaction stays.
"""
import datetime, os
import sqlalchemy as sa
from sqlalchemy.dialects.mysql import DATETIME, insert
from sqlalchemy.orm import Session, declarative_base

engine = sa.create_engine(sa.engine.URL.create("mysql+pymysql", os.environ["DB_USER"], os.environ["DB_PASSWORD"], os.environ["DB_HOST"], int(os.environ["DB_PORT"]), os.environ["DB_NAME"]))
Base = declarative_base()

class Order(Base):
    __tablename__ = "orders"
    id = sa.Column(sa.Integer, primary_key=True, autoincrement=False)
    amount = sa.Column(sa.Numeric(10, 2))

class Check(Base):
    __tablename__ = "future_job"
    entity_name = sa.Column(sa.String(64), primary_key=True)
    entity_key = sa.Column(sa.String(128), primary_key=True)
    job_exec = sa.Column(sa.String(64), primary_key=True)
    tag = sa.Column(sa.String(64), primary_key=True, default="")
    due_at = sa.Column(DATETIME(fsp=6), nullable=False)
    payload = sa.Column(sa.JSON(none_as_null=True))
    expires_at = sa.Column(DATETIME(fsp=6))

def check(key, **more):
    return Check(entity_name="order", entity_key=key, job_exec="order-unshipped", **{"due_at": due, **more})

def pending(s, key):
    return s.execute(sa.text("CALL pending('order', :key)"), {"key": key}).mappings().all()

def refused(number, work):
    try:
        with Session(engine) as s, s.begin():
            work(s)
    except sa.exc.DBAPIError as e:
        assert e.orig.args[0] == number, e
    else:
        raise AssertionError(f"it is not refused by {number}")

due = datetime.datetime.utcnow() + datetime.timedelta(hours=3)
with Session(engine) as s, s.begin():
    s.add_all([Order(id=1, amount=5), check("1", payload={"a": 1})])
try:
    with Session(engine) as s, s.begin():
        s.add(check("2"))
        s.flush()
        s.execute(sa.text("INSERT INTO orders (id, amount) VALUES (2, 0)"))
except sa.exc.DBAPIError:
    pass   # the CHECK of the shop
with Session(engine) as s, s.begin():
    assert pending(s, "1")[0]["due_at"] == due and pending(s, "1")[0]["payload"] == '{"a": 1}' and not pending(s, "2")
    s.add(check("3", due_at=datetime.datetime(2035, 1, 1, 12, tzinfo=datetime.timezone(datetime.timedelta(hours=5)))))
    s.flush()
    assert pending(s, "3")[0]["due_at"] == datetime.datetime(2035, 1, 1, 12) and pending(s, "3")[0]["payload"] is None
    try:
        with s.begin_nested():
            s.add(check("1"))
            s.flush()
    except sa.exc.IntegrityError as e:
        assert e.orig.args[0] == 1062
    put = s.execute(sa.text("CALL put('order', '1', 'order-unshipped', '', UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, NULL, 'replace')")).mappings().one()
    assert put["did"] == "replaced" and len(pending(s, "1")) == 1
    assert s.execute(sa.text("CALL cancel('order', '1', NULL)")).scalar_one() == 1 and not pending(s, "1")
refused(1062, lambda s: s.add(check("3")))
refused(1142, lambda s: s.query(Check).all())
refused(1142, lambda s: s.merge(check("4", tag="")))
refused(1142, lambda s: sa.Table("future_job", sa.MetaData(), autoload_with=s.connection()))
refused(1142, lambda s: s.execute(insert(Check).values(entity_name="order", entity_key="3", job_exec="order-unshipped", due_at=due).on_duplicate_key_update(due_at=due)))

def reads_back(s):
    c = check("5", due_at=sa.text("UTC_TIMESTAMP(6) + INTERVAL 3 HOUR"))
    s.add(c)
    s.flush()
    c.due_at
refused(1142, reads_back)
filled = sa.table("future_job", *map(sa.column, ["entity_name", "entity_key", "job_exec", "due_at", "next_check_at"]))
refused(1143, lambda s: s.execute(filled.insert().values(entity_name="order", entity_key="6", job_exec="x", due_at=due, next_check_at=None)))
print("SQLAlchemy", sa.__version__)
