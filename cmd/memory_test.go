package cmd_test

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"syscall"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient"
)

// ownProgram makes the test binary a program as a user has it, with a job_exec that settles everything.
const ownProgram = "CMD_TEST_OWN_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(ownProgram) != "" {
		runOwnProgram()
	}
	rig.Main(m)
}

func runOwnProgram() {
	cmd.Main(cmd.Options{Register: func(_ context.Context, registry *prescient.Registry, _ cmd.Deps) error {
		return registry.Register("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
	}})
}

// sweepLimit is the most memory that a process may have had while it swept, however many rows were overdue; under the
// race detector a program takes several times as much.
const sweepLimit = 150 << 20

// sweepRows is how many rows are swept, against 25000. PRESCIENT_TEST_SWEEP_ROWS has another number: 5000000
// takes minutes.
func sweepRows(t *testing.T) int {
	text := os.Getenv("PRESCIENT_TEST_SWEEP_ROWS")
	if text == "" {
		return 100_000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 100_000 {
		t.Fatalf("PRESCIENT_TEST_SWEEP_ROWS is %q; want a number of 100000 or more", text)
	}
	return n
}

// overdueSlots is over how many slots of a day that is over the rows are spread.
const overdueSlots = 40

// overdue makes rows pending for overdueSlots slots, with a payload of 200 bytes: in the order of the primary key, and
// with the other index made once they are there, since keys are hashes, and a large index that is filled in another order
// than its own is read from and written to disk all over. Nor are they logged for replicas.
func overdue(r *rig.Rig, rows int) {
	r.Helper()
	conn, err := r.DB.Conn(r.Context())
	r.Must(err)
	defer conn.Close()
	do := func(statement string, args ...any) {
		r.Helper()
		_, err := conn.ExecContext(r.Context(), statement, args...)
		r.Must(err)
	}
	do("SET SESSION sql_log_bin = 0")
	do("ALTER TABLE future_job DROP INDEX job_key")
	for slot := range overdueSlots {
		from, until := rows*slot/overdueSlots, rows*(slot+1)/overdueSlots
		do(`INSERT INTO future_job (entity_name, entity_key, job_exec, due_at, payload)
			WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 999)
			SELECT 'order', ? + a.i * 1000 + b.i, 'check', TIMESTAMP'2026-01-01 00:00:00' + INTERVAL ? MINUTE,
				JSON_OBJECT('note', REPEAT('x', 200)) FROM n a JOIN n b WHERE a.i < ? AND a.i * 1000 + b.i < ?
			ORDER BY SHA2(CONCAT('order', UNHEX('00'), ? + a.i * 1000 + b.i), 256)`,
			from, slot*15, (until-from)/1000+1, until-from, from)
	}
	do("ALTER TABLE future_job ADD UNIQUE KEY job_key (job_key)")
}

// sweep sweeps in a process of its own, and returns the most memory that it had.
func sweep(r *rig.Rig, rows int) (peak int64, took time.Duration) {
	r.Helper()
	seeding := time.Now()
	overdue(r, rows)
	r.Logf("%d rows made pending in %s", rows, time.Since(seeding).Round(time.Second))
	before := r.Count("SELECT COUNT(*) FROM job_history")
	program, err := os.Executable()
	r.Must(err)
	process := exec.CommandContext(r.Context(), program, "sweep")
	process.Dir = r.TempDir()
	process.Env = []string{ownProgram + "=1", "HOME=" + process.Dir, "PRESCIENT_DSN=" + r.Account("worker"), "PRESCIENT_LOG_LEVEL=warn"}
	start := time.Now()
	if out, err := process.CombinedOutput(); err != nil {
		r.Fatalf("%v\n%s", err, out)
	}
	took = time.Since(start)
	if n := r.Count("SELECT COUNT(*) FROM job_history") - before; n != rows {
		r.Errorf("%d rows ended; want %d", n, rows)
	}
	return process.ProcessState.SysUsage().(*syscall.Rusage).Maxrss << 10, took
}

func TestMemoryIsBoundedHoweverManyRowsAreOverdue(t *testing.T) {
	rows := sweepRows(t)
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Needs(rig.ColumnDefaults)
		r.OK("migrate")
		few, _ := sweep(r, 25_000)
		many, took := sweep(r, rows)
		r.Logf("peak of %d rows: %d MiB; of %d rows: %d MiB, in %s", 25_000, few>>20, rows, many>>20, took.Round(time.Second))
		if !raceDetector && many > sweepLimit {
			r.Errorf("%d MiB for %d rows; want %d MiB at most", many>>20, rows, sweepLimit>>20)
		}
		if many > few+few/2 {
			r.Errorf("the peak grew from %d to %d MiB with the backlog", few>>20, many>>20)
		}
	})
}
