package worker

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

// keepers are ways in which an app's tables keep a row from being deleted: %s is that of the row.
var keepers = map[string][]string{
	"a foreign key": {"CREATE TABLE p_note (job_key BINARY(16) NOT NULL, CONSTRAINT p_keeps FOREIGN KEY (job_key) REFERENCES p_future_job (job_key))",
		"INSERT INTO p_note SELECT job_key FROM p_future_job WHERE entity_key = '7'"},
	"a trigger": {"CREATE TRIGGER p_keeps BEFORE DELETE ON p_future_job FOR EACH ROW BEGIN IF OLD.entity_key = '7' THEN " +
		"SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'p_keeps it'; END IF; END"},
	"a CHECK of history": {"ALTER TABLE p_job_history ADD CONSTRAINT p_keeps CHECK (entity_key <> '7')"},
}

// named is what the server says of who keeps a row. MySQL names no constraint to an account that may not see the table that has it.
func named(keeper string) string {
	if strings.HasPrefix(keeper, "a foreign key") {
		return "foreign key constraint fails"
	}
	return "p_keeps"
}

var letGo = map[string]string{"a foreign key": "DROP TABLE p_note", "a trigger": "DROP TRIGGER p_keeps", "a CHECK of history": "ALTER TABLE p_job_history DROP CONSTRAINT p_keeps"}

// life is what became of the row that is kept, slot by slot, until a time.
func (r *testRig) life(registry *prescient.Registry, log zerolog.Logger, from, to time.Time) (waits []int) {
	r.T.Helper()
	slot := from
	for !slot.After(to) {
		w := r.worker(slot.Add(time.Second), registry, Options{Times: Times{Lease: 4 * time.Second}, Log: log})
		_, err := w.runSlot(r.T.Context(), slot, runOptions{parallel: 2})
		r.Must(err)
		job := r.One()
		waits = append(waits, int(job.NextCheckAt.Sub(slot)/(15*time.Minute)))
		slot = job.NextCheckAt
	}
	return waits
}

func TestARowThatCannotBeDeletedIsCalledAsOftenAsItMayFailAndThenNoMore(t *testing.T) {
	t.Parallel()
	// Each keeper, and each form.
	for name, forms := range map[string][]string{"a foreign key": {"Func", "TxFunc"}, "a trigger": {"BatchFunc", "TxBatchFunc"}, "a CHECK of history": {"Func", "TxFunc"}} {
		statements := keepers[name]
		for _, form := range forms {
			t.Run(name+", "+form, func(t *testing.T) {
				eachServer(t, func(t *testing.T, r *testRig) {
					if !strings.HasPrefix(name, "a foreign key") {
						r.Needs(t, rig.Triggers)
					}
					const rows = 40
					r.ManyDue(rig.At("13:15"), "check", 0, rows)
					for _, s := range statements {
						r.Exec(s)
					}
					var c rig.Calls
					registry := prescient.NewRegistry()
					guards := prescient.Guards{}
					r.Must(map[string]func() error{
						"Func": func() error { return registry.Register("check", c.Count, guards) },
						"BatchFunc": func() error {
							return registry.RegisterBatch("check", func(ctx context.Context, b *prescient.Batch) error { return settle(ctx, &c, b) }, guards)
						},
						"TxFunc": func() error {
							return registry.RegisterTx("check", func(ctx context.Context, _ *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
								return c.Count(ctx, job)
							}, guards)
						},
						"TxBatchFunc": func() error {
							return registry.RegisterTxBatch("check", func(ctx context.Context, _ *sqlx.Tx, b *prescient.Batch) error { return settle(ctx, &c, b) }, guards)
						},
					}[form]())
					var log lines
					waits := r.life(registry, zerolog.New(&log).Level(zerolog.InfoLevel), rig.At("13:15"), rig.At("13:15").Add(3*24*time.Hour))
					want := []int{1, 2, 4, 8, 16, 1, 2, 4, 8, 16, 32, 64, 96, 96}
					if len(waits) < len(want) || !slices.Equal(waits[:len(want)], want) {
						t.Errorf("it waited for %v slots; want %v", waits, want)
					}
					calls := c.Of["7"]
					if tx := strings.HasPrefix(form, "Tx"); !tx && calls != 6 || tx && (calls < 6 || calls > 20) {
						t.Errorf("it was called %d times", calls)
					}
					if job := r.One(); job.ErrorCount != 6 || !strings.Contains(job.LastError, "cannot be ended") || !strings.Contains(job.LastError, named(name)) {
						t.Errorf("%+v", job)
					}
					if n := len(r.History()); n != rows-1 {
						t.Errorf("%d ends; want those of all others", n)
					}
					said := log.all()
					if !strings.Contains(said, named(name)) || !strings.Contains(said, "not called any more") || name != "a CHECK of history" && strings.Contains(said, "payload") {
						t.Errorf("the log: %s", said)
					}
					r.Exec(letGo[name])
					slot := r.One().NextCheckAt
					figures := r.runAt(slot.Add(time.Second), registry, Options{})
					if figures.Failed != 1 || c.Of["7"] != calls {
						t.Errorf("%+v; want it to end uncalled", figures)
					}
				})
			})
		}
	}
}

func settle(ctx context.Context, c *rig.Calls, b *prescient.Batch) error {
	for i, job := range b.Jobs() {
		if _, err := c.Count(ctx, job); err != nil {
			return err
		}
		b.Settle(i)
	}
	return nil
}

// A foreign key on the primary key keeps the row from moving, too; a trigger from anything.
func TestARowThatCanNeitherEndNorMoveStaysAndIsNotCalledAtEachSweep(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		statements []string
		marked     bool
		letGo      string
	}{
		"a foreign key on the primary key": {[]string{"CREATE TABLE p_note (at DATETIME NOT NULL, job_key BINARY(16) NOT NULL, CONSTRAINT p_keeps FOREIGN KEY (at, job_key) REFERENCES p_future_job (next_check_at, job_key))",
			"INSERT INTO p_note SELECT next_check_at, job_key FROM p_future_job WHERE entity_key = '7'"}, true, "DROP TABLE p_note"},
		"triggers": {append([]string{"CREATE TRIGGER p_stays BEFORE UPDATE ON p_future_job FOR EACH ROW BEGIN IF OLD.entity_key = '7' THEN " +
			"SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'p_keeps it'; END IF; END"}, keepers["a trigger"]...), false, "DROP TRIGGER p_stays"},
	} {
		for _, moves := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", which would move", false: ", which would end"}[moves], func(t *testing.T) {
				eachServer(t, func(t *testing.T, r *testRig) {
					if !strings.HasPrefix(name, "a foreign key") {
						r.Needs(t, rig.Triggers)
					}
					const rows = 40
					r.ManyDue(rig.At("13:15"), "check", 0, rows)
					for _, s := range c.statements {
						r.Exec(s)
					}
					var calls rig.Calls
					registry := rig.Registry("check", func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
						if _, err := calls.Count(ctx, job); err != nil || !moves || job.EntityKey != "7" {
							return nil, err
						}
						return prescient.At(job.NextCheckAt.Add(time.Hour)), nil
					}, prescient.Guards{})
					var log lines
					w := r.worker(rig.At("13:30:10"), registry, Options{Times: Times{Lease: 4 * time.Second}, Log: zerolog.New(&log).Level(zerolog.InfoLevel)})
					for range 4 {
						_, err := w.Sweep(t.Context())
						r.Must(err)
					}
					if job := r.One(); calls.Of["7"] != 1 || len(r.History()) != rows-1 || prescient.IsKept(job) != c.marked {
						t.Errorf("called %d times, %d ends, %+v", calls.Of["7"], len(r.History()), job)
					}
					if !strings.Contains(log.all(), named(name)) {
						t.Errorf("the log: %s", log.all())
					}
					// Another worker does not call what is marked.
					_, err := r.worker(rig.At("13:30:10"), registry, Options{Times: Times{Lease: 4 * time.Second}}).Sweep(t.Context())
					r.Must(err)
					if want := map[bool]int{true: 1, false: 2}[c.marked]; calls.Of["7"] != want {
						t.Errorf("called %d times; want %d", calls.Of["7"], want)
					}
				})
			})
		}
	}
}

// Whoever keeps many rows holds up no other.
func TestHundredsOfRowsThatAreKeptHoldUpNoOther(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		const rows = 400
		r.ManyDue(rig.At("13:15"), "check", 0, rows)
		r.Exec("CREATE TABLE p_note (job_key BINARY(16) NOT NULL, CONSTRAINT p_keeps FOREIGN KEY (job_key) REFERENCES p_future_job (job_key))")
		r.Exec("INSERT INTO p_note SELECT job_key FROM p_future_job WHERE entity_key LIKE '%3'")
		var c rig.Calls
		figures := r.runAt(rig.At("13:15:01"), rig.Registry("check", c.Count, prescient.Guards{}), Options{})
		if figures.Done != rows-rows/10 || figures.Moved != rows/10 || figures.Stuck != 0 {
			t.Errorf("%+v", figures)
		}
	})
}
