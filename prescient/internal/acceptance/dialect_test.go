package acceptance

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/doctor"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/reslot"
	"prescient/prescient/worker"
	text "prescient/sql"
	"prescient/sql/migrate"
)

// openAt is a pool of the root of an installation, on which the server's clock stands still.
func (i installation) openAt(now time.Time) *sqlx.DB {
	i.t.Helper()
	db, err := connect.Open(servertest.WithParams(i.d.DSN, rig.FixedClock(now)), 0)
	rig.Fatal(i.t, err)
	i.t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestEitherDialectWorksOnTheTablesOfTheOther(t *testing.T) {
	eachEmpty(t, func(i installation) {
		i.needs(rig.ColumnDefaults)
		ctx := i.t.Context()
		before, then, later := i.openAt(rig.At("13:00")), i.openAt(rig.At("13:15:01")), i.openAt(rig.At("14:00:01"))
		execs := prescient.NewRegistry()
		rig.Fatal(i.t, execs.Register("done", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{}))
		rig.Fatal(i.t, execs.Register("again", func(_ context.Context, j prescient.FutureJob) (*time.Time, error) {
			if at := rig.At("14:00"); j.CheckCount == 0 {
				return &at, nil
			}
			return nil, nil
		}, prescient.Guards{}))
		both := []text.Dialect{text.Auto, text.Plain}
		for n, tables := range both {
			prefix := fmt.Sprintf("d%d_", n)
			_, err := migrate.Up(ctx, i.db, migrate.Schema{Prefix: prefix, Resolution: 15 * time.Minute, Dialect: tables})
			rig.Fatal(i.t, err)
			for _, ofClient := range both {
				for _, ofWorker := range both {
					name := fmt.Sprintf("tables %s, client %s, worker %s", tables, ofClient, ofWorker)
					c, err := client.New(ctx, before, client.Options{Prefix: prefix, Dialect: ofClient})
					rig.Fatal(i.t, err)
					e := rig.Order(name)
					_, err = c.InsertMany(ctx, before, []prescient.NewJob{{Entity: e, JobExec: "done", DueAt: rig.At("13:15")},
						{Entity: e, JobExec: "again", DueAt: rig.At("13:15")}, {Entity: e, JobExec: "never", DueAt: rig.At("13:15")}})
					rig.Fatal(i.t, err)
					if cancelled, err := c.Cancel(ctx, before, e, "never"); cancelled != 1 || err != nil {
						i.t.Errorf("%s: cancelled %d, %v", name, cancelled, err)
					}
					for _, at := range []struct {
						db          *sqlx.DB
						done, moved int
					}{{then, 1, 1}, {later, 1, 0}} {
						w, err := worker.New(ctx, at.db, worker.Options{Prefix: prefix, Dialect: ofWorker, Registry: execs})
						rig.Fatal(i.t, err)
						if f, err := w.Run(ctx); err != nil || f.Done != at.done || f.Moved != at.moved {
							i.t.Errorf("%s: %d done, %d moved, %v; want %d, %d", name, f.Done, f.Moved, err, at.done, at.moved)
						}
					}
				}
			}
			found, err := doctor.Examine(ctx, later, doctor.Options{Prefix: prefix, Dialect: text.Plain, Use: doctor.UseOwner})
			rig.Fatal(i.t, err)
			wantFound(i.t, found, "schema", doctor.SeverityOK, "in the dialect plain")
		}
		found, err := doctor.Examine(ctx, later, doctor.Options{Prefix: "d1_", Use: doctor.UseOwner})
		rig.Fatal(i.t, err)
		wantFound(i.t, found, "schema.procedure", doctor.SeverityBad, "d1_cancel")
		_, err = reslot.Run(ctx, later, reslot.Options{Prefix: "d1_", Dialect: text.Plain, Resolution: time.Hour})
		rig.WantErr(i.t, "reslot in plain", err, prescient.ErrInvalid)
		did, err := migrate.Repair(ctx, i.db, migrate.Schema{Prefix: "d1_", Resolution: 15 * time.Minute, Dialect: text.Plain})
		if err != nil || len(did.Done)+len(did.Left) > 0 {
			i.t.Errorf("a repair in plain did %+v, %v", did, err)
		}
		did, err = migrate.Repair(ctx, i.db, migrate.Schema{Prefix: "d1_", Resolution: 15 * time.Minute})
		if err != nil || len(did.Done) == 0 || len(did.Left) > 0 {
			i.t.Errorf("a repair in full did %+v, %v; want what plain left out", did, err)
		}
		found, err = doctor.Examine(ctx, later, doctor.Options{Prefix: "d1_", Use: doctor.UseOwner})
		rig.Fatal(i.t, err)
		wantFound(i.t, found, "schema", doctor.SeverityOK, "defaults and checks")
	})
}

func TestWhatIsNoDialectIsRefused(t *testing.T) {
	eachEmpty(t, func(i installation) {
		ctx, db := i.t.Context(), i.openAt(rig.At("13:00"))
		_, noUp := migrate.Up(ctx, i.db, migrate.Schema{Prefix: "p_", Resolution: time.Hour, Dialect: "tidb"})
		if !errors.Is(noUp, text.ErrDialect) {
			i.t.Errorf("Up: %v", noUp)
		}
		_, err := migrate.Up(ctx, i.db, i.schema)
		rig.Fatal(i.t, err)
		_, noClient := client.New(ctx, db, client.Options{Prefix: "p_", Dialect: "tidb"})
		_, noWorker := worker.New(ctx, db, worker.Options{Prefix: "p_", Dialect: "tidb"})
		_, noDoctor := doctor.Examine(ctx, db, doctor.Options{Prefix: "p_", Dialect: "tidb"})
		_, noReslot := reslot.Run(ctx, db, reslot.Options{Prefix: "p_", Dialect: "tidb", Resolution: time.Hour})
		for what, err := range map[string]error{"client": noClient, "worker": noWorker, "doctor": noDoctor, "reslot": noReslot} {
			if !errors.Is(err, prescient.ErrInvalid) || !rig.Contains(err, `"tidb"`, "auto and plain") {
				i.t.Errorf("%s: %v", what, err)
			}
		}
	})
}
