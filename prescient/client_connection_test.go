package prescient

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/internal/servertest"
	"prescient/prescient/localserver"
)

// connections are the DSN parameters that apps are seen with, and some that nobody should have.
func connections(flavour localserver.Flavour) []string {
	set := func(name, value string) string { return name + "=" + url.QueryEscape("'"+value+"'") }
	easternmost := "+14:00"
	if flavour == localserver.MariaDB {
		easternmost = "+13:00" // it knows none beyond
	}
	list := []string{
		"",
		"parseTime=true",
		"parseTime=true&loc=Local",
		"loc=" + url.QueryEscape("Asia/Kathmandu"),
		"parseTime=true&loc=" + url.QueryEscape("America/St_Johns") + "&" + set("time_zone", "-03:30"),
		set("time_zone", easternmost),
		"parseTime=true&loc=Local&" + set("time_zone", "-08:00"),
		"interpolateParams=true",
		"interpolateParams=true&parseTime=true&loc=Local&" + set("sql_mode", ""),
		"clientFoundRows=true",
		"clientFoundRows=true&multiStatements=true&columnsWithAlias=true",
		"charset=latin1",
		"charset=utf8mb3",
		"charset=sjis",
		"charset=ascii&interpolateParams=true",
		"parseTime=true&loc=Local&interpolateParams=true&clientFoundRows=true&charset=latin1&" +
			set("time_zone", easternmost) + "&" + set("sql_mode", "ANSI,NO_BACKSLASH_ESCAPES"),
	}
	modes := []string{
		"", "ANSI,NO_BACKSLASH_ESCAPES", "ANSI", "TRADITIONAL", "NO_UNSIGNED_SUBTRACTION,HIGH_NOT_PRECEDENCE,REAL_AS_FLOAT",
		"PAD_CHAR_TO_FULL_LENGTH", "NO_ZERO_DATE,NO_ZERO_IN_DATE", "ALLOW_INVALID_DATES",
	}
	if flavour == localserver.MariaDB {
		modes = append(modes, "ORACLE", "MSSQL", "DB2", "MAXDB", "POSTGRESQL", "MYSQL40", "TIME_ROUND_FRACTIONAL", "EMPTY_STRING_IS_NULL",
			"SIMULTANEOUS_ASSIGNMENT")
	} else {
		modes = append(modes, "TIME_TRUNCATE_FRACTIONAL")
	}
	for _, mode := range modes {
		list = append(list, set("sql_mode", mode))
	}
	return list
}

func TestTheConnectionsSettingsChangeNothing(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, allIsolationLevels)
		r.also("app-reschedule", "SELECT", "p_job_history")
		for i, params := range connections(r.d.Flavour) {
			db := servertest.Open(t, r.account("app-reschedule"), fixedClock(at("10:00"))+"&"+params)
			for _, level := range []sql.IsolationLevel{sql.LevelDefault, sql.LevelReadCommitted, sql.LevelSerializable}[:1+2*(i%2)] {
				r.liveThrough(fmt.Sprintf("%q, Tx %s", params, level), begin(t, db, level))
			}
			r.liveThrough(fmt.Sprintf("%q, DB", params), db)
			r.must(db.Close())
		}
	})
}

func TestTheDriversZoneChangesNothing(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.also("app-reschedule", "SELECT", "p_job_history")
		// What loc=Local makes of a machine's TZ.
		for _, zone := range []*time.Location{time.FixedZone("Kathmandu", 20700), time.FixedZone("west", -12*3600), time.Local} {
			config, err := mysql.ParseDSN(servertest.WithParams(r.account("app-reschedule"), "parseTime=true&"+fixedClock(at("10:00"))))
			r.must(err)
			config.Loc = zone
			connector, err := mysql.NewConnector(config)
			r.must(err)
			db := sql.OpenDB(connector)
			r.liveThrough(zone.String(), db)
			r.liveThrough(zone.String(), begin(t, db, sql.LevelDefault))
			r.must(db.Close())
		}
	})
}

func TestEveryIsolationLevelInsertsTheRightSlot(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, allIsolationLevels)
		r.also("app-reschedule", "SELECT", "p_job_history")
		for _, level := range []string{"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
			db := r.appAt(at("10:00"))
			db.SetMaxOpenConns(1)
			_, err := db.Exec("SET SESSION TRANSACTION ISOLATION LEVEL " + level)
			r.must(err)
			r.liveThrough(level+", DB", db)
			r.liveThrough(level+", Tx", begin(t, db, sql.LevelDefault))
		}
	})
}

// liveThrough takes a job through all that a client can do to it, on a handle whose server's clock stands at 10:00.
func (r *rig) liveThrough(name string, db DB) {
	r.t.Helper()
	r.t.Run(name, func(t *testing.T) {
		under := *r
		under.t = t
		r := &under
		defer r.clear()
		if tx, ok := db.(*sql.Tx); ok {
			defer func() { r.must(tx.Rollback()) }()
		}
		ctx := t.Context()
		e, tag := order("O'Brien\\ \"naïve\" 🚢 "+name+"\x00 "), "Täg "
		if len([]rune(e.Key)) > MaxKeyLen {
			e.Key = string([]rune(e.Key)[:MaxKeyLen-1]) + " "
		}
		want := FutureJob{
			EntityName: e.Name, EntityKey: e.Key, JobExec: "ship", Tag: tag, DueAt: at("13:15:00.000001"),
			FirstCheckAt: at("13:30"), NextCheckAt: at("13:30"), InsertedAt: at("10:00"),
			Payload: json.RawMessage(`{"note": "O'Brien \\ \"naïve\" 🚢 ?", "none": null}`),
		}
		job := NewJob{Entity: e, JobExec: "ship", Tag: tag, DueAt: at("13:15").Add(1), Payload: want.Payload}
		if did, err := r.client.Insert(ctx, db, NewJob{Entity: e, JobExec: "bare", DueAt: at("11:00")}); err != nil || did.Did != DidInsert {
			t.Fatalf("without tag and payload: %+v, %v", did, err)
		}
		r.step(db, &want, "insert", DidInsert)(r.client.Insert(ctx, db, job))

		job.DueAt, job.Payload = at("17:00:00.5"), json.RawMessage(`["'", "\\", "é"]`)
		r.step(db, &want, "keep", DidKeep)(r.client.Insert(ctx, db, job))

		job.OnPending = Replace
		want.DueAt, want.FirstCheckAt, want.NextCheckAt, want.Payload = at("17:00:00.5"), at("17:15"), at("17:15"), job.Payload
		r.step(db, &want, "replace", DidReplace)(r.client.Insert(ctx, db, job))

		many, err := r.client.InsertMany(ctx, db, []NewJob{job, {Entity: e, JobExec: "ship", Tag: tag, DueAt: at("16:00"), OnPending: Later}})
		r.must(err)
		r.step(db, &want, "first of many", DidReplace)(many[0], nil)
		r.step(db, &want, "second of many", DidKeep)(many[1], nil)

		want.DueAt, want.NextCheckAt = at("09:59:59.999999"), at("10:15")
		r.step(db, &want, "reschedule", DidReschedule)(r.client.Reschedule(ctx, db, e, "ship", tag, at("09:59:59.999999").Add(-1)))

		if n, err := r.client.Cancel(ctx, db, e, "ship"); n != 1 || err != nil {
			t.Fatalf("cancelled %d, %v", n, err)
		}
		_, err = r.client.Get(ctx, db, e, "ship", tag)
		wantErr(t, "Get", err, ErrNotFound)
		bare, err := r.client.Get(ctx, db, e, "bare", "")
		if err != nil || bare.Payload != nil || bare.Tag != "" || bare.LastError != "" {
			t.Errorf("without tag and payload: %+v, %v", bare, err)
		}
		var key, tagged, ended, slot, outcome, payload sql.NullString
		r.must(queryRow(ctx, db, []any{&key, &tagged, &ended, &slot, &outcome, &payload}, `SELECT HEX(entity_key), HEX(tag),
			CAST(ended_at AS CHAR), CAST(slot AS CHAR), outcome, HEX(CAST(payload AS CHAR CHARACTER SET utf8mb4)) FROM p_job_history`))
		if key.String != fmt.Sprintf("%X", e.Key) || tagged.String != fmt.Sprintf("%X", tag) || outcome.String != "cancelled" ||
			ended.String != "2026-11-20 10:00:00.000000" || slot.String != "2026-11-20 10:15:00" {
			t.Errorf("in history: key %s, tag %s, ended %s, slot %s, outcome %s", key.String, tagged.String, ended.String, slot.String, outcome.String)
		}
	})
}

// step checks what an operation said against the row that is pending now.
func (r *rig) step(db DB, want *FutureJob, what string, action InsertAction) func(Inserted, error) {
	return func(did Inserted, err error) {
		r.t.Helper()
		if err != nil {
			r.t.Fatalf("%s: %v", what, err)
		}
		if did.Did != action || !did.Slot.Equal(want.NextCheckAt) || !did.DueAt.Equal(want.DueAt) {
			r.t.Errorf("%s: %+v; want %s, due %s, slot %s", what, did, action, want.DueAt, want.NextCheckAt)
		}
		got, err := r.client.Get(r.t.Context(), db, want.Entity(), want.JobExec, want.Tag)
		if err != nil {
			r.t.Fatalf("%s: %v", what, err)
		}
		sameJSON(r.t, got.Payload, want.Payload)
		got.Payload, got.Revision = nil, 0
		expected := *want
		expected.Payload = nil
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", expected) {
			r.t.Errorf("%s: pending is\n%+v; want\n%+v", what, got, expected)
		}
	}
}
