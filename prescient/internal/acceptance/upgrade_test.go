package acceptance

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/doctor"
	"prescient/prescient/internal/rig"
	"prescient/prescient/prune"
	"prescient/prescient/reslot"
	"prescient/prescient/worker"
	text "prescient/sql"
	"prescient/sql/migrate"
)

// newest is the schema version of this program.
const newest = int64(text.SchemaVersion)

// A program on tables one version back: an upgrade in which somebody forgot to migrate first.
func TestTablesOfAnEarlierVersionAreRefusedAndLoseNothing(t *testing.T) {
	eachEmpty(t, func(i installation) {
		i.needs(rig.ChangeOfResolution)
		n := newest
		wants := fmt.Sprintf("this program needs version %d", n)
		db, err := connect.Open(i.d.DSN, 0)
		rig.Fatal(i.t, err)
		defer db.Close()
		refused := func(is string) {
			i.t.Helper()
			ctx := i.t.Context()
			_, noClient := client.New(ctx, db, client.Options{Prefix: "p_"})
			_, noWorker := worker.New(ctx, db, worker.Options{Prefix: "p_"})
			_, noPrune := prune.Run(ctx, db, prune.Options{Prefix: "p_", Keep: prune.MinKeep})
			_, noReslot := reslot.Run(ctx, db, reslot.Options{Prefix: "p_", Resolution: time.Hour})
			for what, err := range map[string]error{"client": noClient, "worker": noWorker, "prune": noPrune, "reslot": noReslot} {
				if !errors.Is(err, prescient.ErrNotMigrated) || what != "reslot" && !rig.Contains(err, is, wants) {
					i.t.Errorf("%s: %v; want ErrNotMigrated with %q, %q", what, err, is, wants)
				}
			}
			found, err := doctor.Examine(ctx, db, doctor.Options{Prefix: "p_"})
			if f := foundIn(found, "tables"); err != nil || f.Severity != doctor.SeverityBad || f.Do != "Run `migrate`." || !rig.Contains(errors.New(f.Text), is, wants) {
				i.t.Errorf("the doctor says %+v, %v", found, err)
			}
		}
		i.up(released)
		i.exec("UPDATE p_slot_config SET changed_at = '2026-11-20 12:00:00'")
		i.exec(plainInsert("'2026-11-20 13:05:00'", ""))
		for _, is := range []int64{n - 1, 0} { // and one that was broken off
			i.exec("UPDATE p_slot_config SET migrated_to = ?", is)
			i.exec("UPDATE p_schema_version SET version_id = ? WHERE version_id = ?", n+1, n)
			refused(fmt.Sprintf("by p_slot_config they are of version %d", is))
			i.exec("UPDATE p_schema_version SET version_id = ? WHERE version_id = ?", n, n+1)
		}
		i.exec("UPDATE p_slot_config SET migrated_to = ?", n)

		var rows int
		rig.Fatal(i.t, i.db.QueryRow("SELECT COUNT(*) FROM p_slot_config WHERE changed_at = '2026-11-20 12:00:00' AND version = 1 AND resolution_to_s IS NULL").Scan(&rows))
		if rows != 1 {
			i.t.Error("what was refused has changed slot_config")
		}
		execs := rig.Registry("x", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		w, err := worker.New(i.t.Context(), db, worker.Options{Prefix: "p_", Registry: execs, Sweep: worker.Sweep{Grace: time.Millisecond}})
		rig.Fatal(i.t, err)
		i.exec("UPDATE p_future_job SET due_at = '2001-01-01 13:05:00', next_check_at = '2001-01-01 13:15:00'")
		swept, err := w.Sweep(i.t.Context())
		if err != nil || len(swept) != 1 || swept[0].Done != 1 {
			i.t.Errorf("after the migration: %+v, %v", swept, err)
		}
	})
}

// Tables of a version from before the baseline are left alone until somebody drops them.
func TestTablesFromBeforeTheBaselineAreRefusedAndCanBeDropped(t *testing.T) {
	eachEmpty(t, func(i installation) {
		ctx := i.t.Context()
		for _, version := range []int64{1, 23, baseline - 1} {
			i.schema.Set = baselineAlone(i.t)
			i.up(1)
			i.schema.Set = nil
			i.exec("ALTER TABLE p_slot_config CHANGE migrated_to schema_version INT UNSIGNED NOT NULL DEFAULT 0")
			i.exec("UPDATE p_schema_version SET version_id = ? WHERE version_id = ?", version, baseline)
			there := i.tables()
			_, noUp := migrate.Up(ctx, i.db, i.schema)
			_, noPlan := migrate.Plan(ctx, i.db, i.schema)
			_, noCount := migrate.Pending(ctx, i.db, i.schema)
			for what, err := range map[string]error{"up": noUp, "plan": noPlan, "pending": noCount} {
				if !errors.Is(err, migrate.ErrEarlier) || !rig.Contains(err, fmt.Sprintf("p_schema_version has version %d,", version), "Nothing was changed") {
					i.t.Errorf("%s: %v; want ErrEarlier with version %d", what, err, version)
				}
			}
			db, err := connect.Open(i.d.DSN, 0)
			rig.Fatal(i.t, err)
			if _, err := client.New(ctx, db, client.Options{Prefix: "p_"}); !errors.Is(err, prescient.ErrNotMigrated) {
				i.t.Errorf("a client: %v", err)
			}
			rig.Fatal(i.t, db.Close())
			if now := i.tables(); !slices.Equal(now, there) {
				i.t.Errorf("what was refused left %q of %q", now, there)
			}
			_, err = migrate.Down(ctx, i.db, i.schema)
			if left := i.tables(); err != nil || len(left) != 0 {
				i.t.Fatalf("%v; %q are left", err, left)
			}
		}
		i.up(released)
	})
}

// The other half of a rolling upgrade: programs of this version, those that run and those that start, on tables that the
// next version has migrated.
func TestAProgramDoesItsWorkOnTablesOneVersionAhead(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		fn := func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			switch job.EntityKey {
			case "moves":
				return prescient.At(job.NextCheckAt.Add(time.Hour)), nil
			case "fails":
				return nil, errors.New("not now")
			}
			return nil, nil
		}
		before := r.Worker(rig.At("13:15:01"), rig.Registry("check", fn, prescient.Guards{}), worker.Options{})
		r.Insert(rig.At("12:00"), prescient.NewJob{Entity: rig.Order("before"), JobExec: "check", DueAt: rig.At("13:05")})
		later := migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute, Dialect: r.Setting, Set: laterSet(t, cancelAnew.with(further))}
		if applied, err := migrate.Up(t.Context(), r.Root, later); err != nil || len(applied) != 1 {
			t.Fatalf("%+v, %v", applied, err)
		}

		for _, key := range []string{"ends", "moves", "fails", "cancelled", "called"} {
			r.Insert(rig.At("12:00"), prescient.NewJob{Entity: rig.Order(key), JobExec: "check", DueAt: rig.At("13:05")}) // by a client from before
		}
		var err error
		r.Client, err = client.New(t.Context(), r.App, client.Options{Prefix: "p_", Dialect: r.Setting, Resolution: 15 * time.Minute})
		r.Must(err)
		ctx, app := t.Context(), r.AppAt(rig.At("12:00"))
		did, err := r.Client.InsertMany(ctx, app, []prescient.NewJob{{Entity: rig.Order("ends"), JobExec: "check", DueAt: rig.At("13:10"), OnPending: prescient.Replace},
			{Entity: rig.Order("many"), JobExec: "check", DueAt: rig.At("13:10")}})
		if err != nil || did[0].Did != client.DidReplace || did[1].Did != client.DidInsert {
			t.Errorf("%+v, %v", did, err)
		}
		r.Exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', 'plain', 'check', '2026-11-20 14:05:00')")
		if _, err := r.Client.Reschedule(ctx, app, rig.Order("plain"), "check", "", rig.At("13:12")); err != nil {
			t.Error(err)
		}
		if n, err := r.Client.Cancel(ctx, app, rig.Order("cancelled")); err != nil || n != 1 {
			t.Errorf("cancelled %d, %v", n, err)
		}
		r.call(app, 1, "order", "called", nil)

		figures, err := before.Run(ctx) // by a worker from before
		if err != nil || figures.Done != 4 || figures.Moved != 2 {
			t.Errorf("%+v, %v; want 4 done and 2 moved", figures, err)
		}
		late := rig.At("16:00:30")
		after := r.Worker(late, rig.Registry("check", fn, prescient.Guards{}), worker.Options{})
		swept, err := after.Sweep(ctx)
		if err != nil || len(swept) != 2 {
			t.Errorf("%+v, %v; want the slots of what moved and what failed", swept, err)
		}
		r.Must(r.Client.Pause(ctx, r.Pool(late), prescient.Paused{JobExec: "check"}))
		if n, err := r.Client.Resume(ctx, r.Pool(late), "check"); err != nil || n != 1 {
			t.Errorf("resumed %d, %v", n, err)
		}
		requeued, err := r.Client.Requeue(ctx, r.Pool(late), client.RequeueOptions{Filter: client.ListFilter{Entity: rig.Order("ends")}, AllOutcomes: true, Limit: 1})
		if err != nil || requeued.Requeued != 1 {
			t.Errorf("%+v, %v", requeued, err)
		}
		if _, err := r.Worker(rig.At("23:00"), prescient.NewRegistry(), worker.Options{}).RollForward(ctx, nil); err != nil {
			t.Error(err)
		}
		if _, err := prune.Run(ctx, r.Pool(time.Time{}), prune.Options{Prefix: "p_", Keep: 90 * 24 * time.Hour}); err != nil {
			t.Error(err)
		}
		if got := r.Count("SELECT COUNT(*) FROM p_future_job WHERE further = 'none'"); got != len(r.Pending()) || got == 0 {
			t.Errorf("%d rows have the default of the further column, %d are pending", got, len(r.Pending()))
		}
		r.Balanced()

		found := r.examine(time.Time{}, doctor.Options{})
		wantFound(t, found, "version", doctor.SeverityWarn, fmt.Sprintf("version %d", newest+1), fmt.Sprintf("knows version %d", newest))
		wantFound(t, found, "schema", doctor.SeverityOK)
		schema := migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute}
		if applied, err := migrate.Up(ctx, r.Pool(time.Time{}).DB, schema); err != nil || len(applied) != 0 {
			t.Errorf("migrated %v, %v; want nothing to do", applied, err)
		}
		if missing, err := migrate.Pending(ctx, r.Pool(time.Time{}).DB, schema); err != nil || missing != 0 {
			t.Errorf("%d are missing, %v", missing, err)
		}
		if did := r.reslotTo(time.Hour); did.To != time.Hour || did.Rows == 0 {
			t.Errorf("%+v", did)
		}
		if got := r.Count("SELECT migrated_to FROM p_slot_config"); int64(got) != newest+1 {
			t.Errorf("the schema version became %d", got)
		}
	})
}
