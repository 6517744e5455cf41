package prescient

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	text "prescient/sql"
)

// newest is the schema version of this program.
func newest(t *testing.T) int64 {
	t.Helper()
	version, err := text.Version()
	fatal(t, err)
	return version
}

// A program on tables one version back: an upgrade in which somebody forgot to migrate first.
func TestTablesOfAnEarlierVersionAreRefusedAndLoseNothing(t *testing.T) {
	eachEmpty(t, func(i installation) {
		i.needs(changeOfResolution)
		n := newest(i.t)
		wants := fmt.Sprintf("this program needs %d: run the migrations first", n)
		db, err := Open(i.d.DSN, 0)
		fatal(i.t, err)
		defer db.Close()
		refused := func(is string) {
			i.t.Helper()
			ctx := i.t.Context()
			_, noClient := NewClient(ctx, db, ClientOptions{Prefix: "p_"})
			_, noWorker := NewWorker(ctx, db, WorkerOptions{Prefix: "p_"})
			_, noPrune := Prune(ctx, db, PruneOptions{Prefix: "p_", Keep: MinKeep})
			_, noReslot := Reslot(ctx, db, ReslotOptions{Prefix: "p_", Resolution: time.Hour})
			for what, err := range map[string]error{"client": noClient, "worker": noWorker, "prune": noPrune, "reslot": noReslot} {
				if !errors.Is(err, ErrNotMigrated) || what != "reslot" && !contains(err, is, wants) {
					i.t.Errorf("%s: %v; want ErrNotMigrated with %q, %q", what, err, is, wants)
				}
			}
			found, err := Doctor(ctx, db, DoctorOptions{Prefix: "p_"})
			if f := finding(found, "tables"); err != nil || f.Severity != SeverityBad || f.Do != "run migrate" || !contains(errors.New(f.Text), is, wants) {
				i.t.Errorf("the doctor says %+v, %v", found, err)
			}
		}
		schema := i.schema
		for schema.UpTo = range n - 1 {
			schema.UpTo++
			_, err := text.Up(i.t.Context(), i.db, schema)
			fatal(i.t, err)
			if schema.UpTo == 1 || schema.UpTo == n-1 {
				i.exec("UPDATE p_slot_config SET changed_at = '2026-11-20 12:00:00'")
				is := fmt.Sprint(schema.UpTo)
				if schema.UpTo < versionKnown {
					is = fmt.Sprintf("before %d", versionKnown)
				}
				refused("the schema version of p_slot_config is " + is)
			}
		}
		i.exec(plainInsert("'2026-11-20 13:05:00'", ""))
		i.up(1)
		i.exec("UPDATE p_slot_config SET schema_version = ?", n-1)
		refused(fmt.Sprintf("the schema version of p_slot_config is %d", n-1))
		i.exec("UPDATE p_slot_config SET schema_version = ?", n)

		var rows int
		fatal(i.t, i.db.QueryRow("SELECT COUNT(*) FROM p_slot_config WHERE changed_at = '2026-11-20 12:00:00' AND version = 1 AND resolution_to_s IS NULL").Scan(&rows))
		if rows != 1 {
			i.t.Error("what was refused has changed slot_config")
		}
		execs := registry("x", func(context.Context, FutureJob) (*time.Time, error) { return nil, nil }, Guards{})
		w, err := NewWorker(i.t.Context(), db, WorkerOptions{Prefix: "p_", Registry: execs, SweepGrace: time.Millisecond})
		fatal(i.t, err)
		i.exec("UPDATE p_future_job SET due_at = '2001-01-01 13:05:00', next_check_at = '2001-01-01 13:15:00'")
		swept, err := w.Sweep(i.t.Context())
		if err != nil || len(swept) != 1 || swept[0].Done != 1 {
			i.t.Errorf("after the migration: %+v, %v", swept, err)
		}
	})
}

// further is what a migration may do that comes after the newest one: it adds, and whoever does not know of it need not.
func (r *rig) further() {
	r.t.Helper()
	for _, table := range []string{"slot_config", "future_job", "job_history", "slot_run", "job_pause"} {
		r.exec("ALTER TABLE p_" + table + " ADD COLUMN further VARCHAR(64) NOT NULL DEFAULT 'none'")
	}
	r.exec("CREATE TABLE p_further (id INT PRIMARY KEY)")
	r.exec("UPDATE p_slot_config SET schema_version = ?", newest(r.t)+1)
	r.exec("INSERT INTO p_schema_version (version_id, is_applied) VALUES (?, 1)", newest(r.t)+1)
}

// The other half of a rolling upgrade: programs of this version, those that run and those that start, on tables that the
// next version has migrated.
func TestAProgramDoesItsWorkOnTablesOneVersionAhead(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, columnDefaults)
		fn := func(_ context.Context, job FutureJob) (*time.Time, error) {
			switch job.EntityKey {
			case "moves":
				return At(job.NextCheckAt.Add(time.Hour)), nil
			case "fails":
				return nil, errors.New("not now")
			}
			return nil, nil
		}
		before := r.worker(at("13:15:01"), registry("check", fn, Guards{}), WorkerOptions{})
		r.insert(at("12:00"), NewJob{Entity: order("before"), JobExec: "check", DueAt: at("13:05")})
		r.further()

		for _, key := range []string{"ends", "moves", "fails", "cancelled", "called"} {
			r.insert(at("12:00"), NewJob{Entity: order(key), JobExec: "check", DueAt: at("13:05")}) // by a client from before
		}
		var err error
		r.client, err = NewClient(t.Context(), r.app, ClientOptions{Prefix: "p_", Resolution: 15 * time.Minute})
		r.must(err)
		ctx, app := t.Context(), r.appAt(at("12:00"))
		did, err := r.client.InsertMany(ctx, app, []NewJob{{Entity: order("ends"), JobExec: "check", DueAt: at("13:10"), OnPending: Replace},
			{Entity: order("many"), JobExec: "check", DueAt: at("13:10")}})
		if err != nil || did[0].Did != DidReplace || did[1].Did != DidInsert {
			t.Errorf("%+v, %v", did, err)
		}
		r.exec("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', 'plain', 'check', '2026-11-20 14:05:00')")
		if _, err := r.client.Reschedule(ctx, app, order("plain"), "check", "", at("13:12")); err != nil {
			t.Error(err)
		}
		if n, err := r.client.Cancel(ctx, app, order("cancelled")); err != nil || n != 1 {
			t.Errorf("cancelled %d, %v", n, err)
		}
		r.call(app, 1, "order", "called", nil)

		figures, err := before.Run(ctx) // by a worker from before
		if err != nil || figures.Done != 4 || figures.Moved != 2 {
			t.Errorf("%+v, %v; want 4 done and 2 moved", figures, err)
		}
		late := at("16:00:30")
		after := r.worker(late, registry("check", fn, Guards{}), WorkerOptions{})
		swept, err := after.Sweep(ctx)
		if err != nil || len(swept) != 2 {
			t.Errorf("%+v, %v; want the slots of what moved and what failed", swept, err)
		}
		r.must(r.client.Pause(ctx, r.pool(late), Paused{JobExec: "check"}))
		if n, err := r.client.Resume(ctx, r.pool(late), "check"); err != nil || n != 1 {
			t.Errorf("resumed %d, %v", n, err)
		}
		requeued, err := r.client.Requeue(ctx, r.pool(late), RequeueOptions{Filter: ListFilter{Entity: order("ends")}, AllOutcomes: true, Limit: 1})
		if err != nil || requeued.Requeued != 1 {
			t.Errorf("%+v, %v", requeued, err)
		}
		if _, err := r.worker(at("23:00"), NewRegistry(), WorkerOptions{}).RollForward(ctx, nil); err != nil {
			t.Error(err)
		}
		if _, err := Prune(ctx, r.pool(time.Time{}), PruneOptions{Prefix: "p_", Keep: 90 * 24 * time.Hour}); err != nil {
			t.Error(err)
		}
		if got := r.count("SELECT COUNT(*) FROM p_future_job WHERE further = 'none'"); got != len(r.pending()) || got == 0 {
			t.Errorf("%d rows have the default of the further column, %d are pending", got, len(r.pending()))
		}
		r.balanced()

		found := r.examine(time.Time{}, DoctorOptions{})
		wantFinding(t, found, "version", SeverityWarn, fmt.Sprintf("version %d", newest(t)+1), fmt.Sprintf("knows %d", newest(t)))
		wantFinding(t, found, "schema", SeverityOK)
		schema := text.Schema{Prefix: "p_", Resolution: 15 * time.Minute}
		if applied, err := text.Up(ctx, r.pool(time.Time{}).DB, schema); err != nil || len(applied) != 0 {
			t.Errorf("migrated %v, %v; want nothing to do", applied, err)
		}
		if missing, err := text.Pending(ctx, r.pool(time.Time{}).DB, schema); err != nil || missing != 0 {
			t.Errorf("%d are missing, %v", missing, err)
		}
		if did := r.reslotTo(time.Hour); did.To != time.Hour || did.Rows == 0 {
			t.Errorf("%+v", did)
		}
		if got := r.count("SELECT schema_version FROM p_slot_config"); int64(got) != newest(t)+1 {
			t.Errorf("the schema version became %d", got)
		}
	})
}
