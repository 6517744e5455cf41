package acceptance

import (
	"bytes"
	"encoding/hex"
	"os"
	"regexp"
	"strings"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
)

// Where rows lie in a sharded keyspace the tables fill in, also of rows that were there before, and nothing else is taken.
func TestTheTablesSayWhereRowsLieAsTheClientDoes(t *testing.T) {
	eachEmpty(t, func(i installation) {
		i.needs(rig.ColumnDefaults)
		schema := i.schema
		i.schema.Set = baselineAlone(i.t)
		i.up(1)
		i.schema = schema
		ids := []string{"before/1", "größe 😀/2", "a'b\"c\\d/e/f", "plain"}
		insert := func(id string) {
			i.t.Helper()
			i.exec("INSERT INTO p_schedule (id, crontabs, job_exec) VALUES (?, '* * * * *', 'x')", id)
			i.exec("INSERT INTO p_schedule_deleted (id, fired_until) VALUES (?, UTC_TIMESTAMP(6))", id)
			i.exec("INSERT INTO p_schedule_refused (schedule_id) VALUES (?)", id)
			i.exec("INSERT INTO p_event_outbox (shard, id, topic, event_key, generated_at, inserted_at) VALUES (1, ?, 't', ?, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6))", id, id)
		}
		insert(ids[0])
		i.exec("INSERT INTO p_job_step (step, job) VALUES ('s', 'j')")
		i.up(released - 1)
		for _, id := range ids[1:] {
			insert(id)
		}
		is := func(query string, want prescient.KeyspaceID, args ...any) {
			i.t.Helper()
			var place string
			rig.Fatal(i.t, i.db.QueryRow(query, args...).Scan(&place))
			if place != strings.ToUpper(hex.EncodeToString(want[:])) {
				i.t.Errorf("%s %q: %s; want %X", query, args, place, want)
			}
		}
		for _, id := range ids {
			of := prescient.Entity{Name: prescient.ScheduleEntity, Key: id}.KeyspaceID()
			is("SELECT HEX(place) FROM p_schedule WHERE id = ?", of, id)
			is("SELECT HEX(place) FROM p_schedule_deleted WHERE id = ?", of, id)
			is("SELECT HEX(place) FROM p_schedule_refused WHERE schedule_id = ?", of, id)
			is("SELECT HEX(place) FROM p_event_outbox WHERE event_key = ?", prescient.KeyspaceIDOf(id), id)
			i.exec("UPDATE p_event_outbox SET place = UNHEX(?) WHERE event_key = ?", hex.EncodeToString(of[:]), id)
		}
		is("SELECT HEX(place) FROM p_job_step", prescient.Entity{Name: prescient.ScheduleEntity, Key: "job/j"}.KeyspaceID())
		if key := prescient.KeyOf(prescient.Entity{Name: "order", Key: "a/42"}, "x", ""); prescient.KeyspaceIDOf("order/a/42") != prescient.KeyspaceID(key[:12]) {
			i.t.Errorf("the key of an event that names an entity is at %X", prescient.KeyspaceIDOf("order/a/42"))
		}
		for _, table := range []string{"schedule", "schedule_deleted", "schedule_refused", "event_outbox", "job_step"} {
			if _, err := i.db.Exec("UPDATE p_" + table + " SET place = UNHEX('000000000000000000000000') LIMIT 1"); !errno.Is(err, errno.CheckMySQL, errno.CheckMariaDB) {
				i.t.Errorf("%s takes another place: %v", table, err)
			}
		}
	})
}

// An app that is given the expression on the page has its rows lie with their checks.
func TestThePlaceOnThePageIsThatOfTheEntity(t *testing.T) {
	page, err := os.ReadFile("../../shards/README.md")
	rig.Fatal(t, err)
	expression := regexp.MustCompile("`(LEFT\\([^`]*)`").FindSubmatch(page)
	if expression == nil {
		t.Fatal("the page has no expression for a place")
	}
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		for _, key := range []string{"42", "größe 😀/2", ""} {
			var place []byte
			want := prescient.Entity{Name: "order", Key: key}.KeyspaceID()
			rig.Fatal(t, servertest.Open(t, d.DSN, "").QueryRowContext(t.Context(), "SELECT "+string(expression[1])+" FROM (SELECT ? AS id) AS app", key).Scan(&place))
			if !bytes.Equal(place, want[:]) {
				t.Errorf("%q: %X; want %X", key, place, want)
			}
		}
	})
}
