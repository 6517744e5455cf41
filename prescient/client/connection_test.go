package client

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/url"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
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
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.AllIsolationLevels)
		r.Needs(t, rig.AllSettings)
		r.Also("app-reschedule", "SELECT", "p_job_history")
		for i, params := range connections(r.D.Flavour) {
			db := servertest.Open(t, r.Account("app-reschedule"), rig.FixedClock(rig.At("10:00"))+"&"+params)
			for _, level := range []sql.IsolationLevel{sql.LevelDefault, sql.LevelReadCommitted, sql.LevelSerializable}[:1+2*(i%2)] {
				r.liveThrough(fmt.Sprintf("%q, Tx %s", params, level), rig.Begin(t, db, level))
			}
			r.liveThrough(fmt.Sprintf("%q, DB", params), db)
			r.Must(db.Close())
		}
	})
}

func TestTheDriversZoneChangesNothing(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.StillClocks)
		r.Also("app-reschedule", "SELECT", "p_job_history")
		// What loc=Local makes of a machine's TZ.
		for _, zone := range []*time.Location{time.FixedZone("Kathmandu", 20700), time.FixedZone("west", -12*3600), time.Local} {
			config, err := mysql.ParseDSN(servertest.WithParams(r.Account("app-reschedule"), "parseTime=true&"+rig.FixedClock(rig.At("10:00"))))
			r.Must(err)
			config.Loc = zone
			connector, err := mysql.NewConnector(config)
			r.Must(err)
			db := sql.OpenDB(connector)
			r.liveThrough(zone.String(), db)
			r.liveThrough(zone.String(), rig.Begin(t, db, sql.LevelDefault))
			r.Must(db.Close())
		}
	})
}

func TestEveryIsolationLevelInsertsTheRightSlot(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.AllIsolationLevels)
		r.Also("app-reschedule", "SELECT", "p_job_history")
		for _, level := range []string{"READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE"} {
			db := r.AppAt(rig.At("10:00"))
			db.SetMaxOpenConns(1)
			_, err := db.Exec("SET SESSION TRANSACTION ISOLATION LEVEL " + level)
			r.Must(err)
			r.liveThrough(level+", DB", db)
			r.liveThrough(level+", Tx", rig.Begin(t, db, sql.LevelDefault))
		}
	})
}

// liveThrough takes a job through all that a client can do to it, on a handle whose server's clock stands at 10:00.
func (r *testRig) liveThrough(name string, db prescient.DB) {
	r.T.Helper()
	r.T.Run(name, func(t *testing.T) {
		whole := r.T
		r.T = t // what fails is of this part
		defer func() { r.T = whole }()
		defer r.Clear()
		if tx, ok := db.(*sql.Tx); ok {
			defer func() { r.Must(tx.Rollback()) }()
		}
		ctx := t.Context()
		r.client.lately = lately{lookedAt: time.Now()} // each goes directly at first
		e, tag := rig.Order("O'Brien\\ \"naïve\" 🚢 "+name+"\x00 "), "Täg "
		if len([]rune(e.Key)) > prescient.MaxKeyLen {
			e.Key = string([]rune(e.Key)[:prescient.MaxKeyLen-1]) + " "
		}
		want := prescient.FutureJob{
			EntityName: e.Name, EntityKey: e.Key, JobExec: "ship", Tag: tag, DueAt: rig.At("13:15:00.000001"),
			FirstCheckAt: rig.At("13:30"), NextCheckAt: rig.At("13:30"), InsertedAt: rig.At("10:00"),
			Payload: json.RawMessage(`{"note": "O'Brien \\ \"naïve\" 🚢 ?", "none": null}`),
		}
		job := prescient.NewJob{Entity: e, JobExec: "ship", Tag: tag, DueAt: rig.At("13:15").Add(1), Payload: want.Payload}
		if did, err := r.client.Insert(ctx, db, prescient.NewJob{Entity: e, JobExec: "bare", DueAt: rig.At("11:00")}); err != nil || did.Did != DidInsert {
			t.Fatalf("without tag and payload: %+v, %v", did, err)
		}
		if did, err := r.client.Insert(ctx, db, prescient.NewJob{Entity: rig.Order("late"), JobExec: "late", DueAt: rig.At("10:00")}); err != nil || !did.Slot.Equal(rig.At("10:15")) {
			t.Fatalf("what is due already: %+v, %v", did, err)
		}
		r.step(db, &want, "insert", DidInsert)(r.client.Insert(ctx, db, job))

		job.DueAt, job.Payload = rig.At("17:00:00.5"), json.RawMessage(`["'", "\\", "é"]`)
		r.step(db, &want, "keep", DidKeep)(r.client.Insert(ctx, db, job))

		job.OnPending = prescient.Replace
		want.DueAt, want.FirstCheckAt, want.NextCheckAt, want.Payload = rig.At("17:00:00.5"), rig.At("17:15"), rig.At("17:15"), job.Payload
		r.step(db, &want, "replace", DidReplace)(r.client.Insert(ctx, db, job))

		many, err := r.client.InsertMany(ctx, db, []prescient.NewJob{job, {Entity: e, JobExec: "ship", Tag: tag, DueAt: rig.At("16:00"), OnPending: prescient.Later}})
		r.Must(err)
		r.step(db, &want, "first of many", DidReplace)(many[0], nil)
		r.step(db, &want, "second of many", DidKeep)(many[1], nil)

		want.DueAt, want.NextCheckAt = rig.At("09:59:59.999999"), rig.At("10:15")
		r.step(db, &want, "reschedule", DidReschedule)(r.client.Reschedule(ctx, db, e, "ship", tag, rig.At("09:59:59.999999").Add(-1)))

		if n, err := r.client.Cancel(ctx, db, e, "ship"); n != 1 || err != nil {
			t.Fatalf("cancelled %d, %v", n, err)
		}
		_, err = r.client.Get(ctx, db, e, "ship", tag)
		rig.WantErr(t, "Get", err, prescient.ErrNotFound)
		bare, err := r.client.Get(ctx, db, e, "bare", "")
		if err != nil || bare.Payload != nil || bare.Tag != "" || bare.LastError != "" {
			t.Errorf("without tag and payload: %+v, %v", bare, err)
		}
		var key, tagged, ended, slot, outcome, payload sql.NullString
		r.Must(store.QueryRow(ctx, db, []any{&key, &tagged, &ended, &slot, &outcome, &payload}, `SELECT HEX(entity_key), HEX(tag),
			CAST(ended_at AS CHAR), CAST(slot AS CHAR), outcome, HEX(CAST(payload AS CHAR CHARACTER SET utf8mb4)) FROM p_job_history`))
		if key.String != fmt.Sprintf("%X", e.Key) || tagged.String != fmt.Sprintf("%X", tag) || outcome.String != "cancelled" ||
			ended.String != "2026-11-20 10:00:00.000000" || slot.String != "2026-11-20 10:15:00" {
			t.Errorf("in history: key %s, tag %s, ended %s, slot %s, outcome %s", key.String, tagged.String, ended.String, slot.String, outcome.String)
		}
	})
}

// step checks what an operation said against the row that is pending now.
func (r *testRig) step(db prescient.DB, want *prescient.FutureJob, what string, action InsertAction) func(Inserted, error) {
	return func(did Inserted, err error) {
		r.T.Helper()
		if err != nil {
			r.T.Fatalf("%s: %v", what, err)
		}
		if did.Did != action || !did.Slot.Equal(want.NextCheckAt) || !did.DueAt.Equal(want.DueAt) {
			r.T.Errorf("%s: %+v; want %s, due %s, slot %s", what, did, action, want.DueAt, want.NextCheckAt)
		}
		got, err := r.client.Get(r.T.Context(), db, want.Entity(), want.JobExec, want.Tag)
		if err != nil {
			r.T.Fatalf("%s: %v", what, err)
		}
		sameJSON(r.T, got.Payload, want.Payload)
		got.Payload, got.Revision = nil, 0
		expected := *want
		expected.Payload = nil
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", expected) {
			r.T.Errorf("%s: pending is\n%+v; want\n%+v", what, got, expected)
		}
	}
}
