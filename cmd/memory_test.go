package cmd_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"prescient/cmd/internal/rig"
)

func TestMain(m *testing.M) { rig.Main(m) }

// sweepLimit is the most memory that a process may have had while it swept, however many rows were overdue.
const sweepLimit = 150 << 20

// fewRows is how many rows are swept first, to compare with.
const fewRows = 10_000

// sweepRows is how many rows are swept, against fewRows. PRESCIENT_TEST_SWEEP_ROWS has another number: 5000000
// takes minutes.
func sweepRows(t *testing.T) int {
	text := os.Getenv("PRESCIENT_TEST_SWEEP_ROWS")
	if text == "" {
		return 40_000
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < 40_000 {
		t.Fatalf("PRESCIENT_TEST_SWEEP_ROWS is %q; want a number of 40000 or more", text)
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

// sweep sweeps in a process of its own, and returns the most memory that it had. The process says that itself: what the
// system knows of it afterwards is no less than what this one had when it started it. It is built without the race
// detector, under which a program takes several times as much.
func sweep(r *rig.Rig, rows int) (peak int64, took time.Duration) {
	r.Helper()
	seeding := time.Now()
	overdue(r, rows)
	r.Logf("%d rows made pending in %s", rows, time.Since(seeding).Round(time.Second))
	before := r.Count("SELECT COUNT(*) FROM job_history")
	var out, log bytes.Buffer
	process := exec.CommandContext(r.Context(), rig.Build(r.T, "prescient/cmd/testdata/settles"), "sweep")
	process.Dir, process.Stdout, process.Stderr = r.TempDir(), &out, &log
	process.Env = []string{"HOME=" + process.Dir, "PRESCIENT_DSN=" + r.Account("worker"), "PRESCIENT_LOG_LEVEL=warn"}
	start := time.Now()
	if err := process.Run(); err != nil {
		r.Fatalf("%v\n%s", err, log.String())
	}
	took = time.Since(start)
	if n := r.Count("SELECT COUNT(*) FROM job_history") - before; n != rows {
		r.Errorf("%d rows ended; want %d", n, rows)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if _, err := fmt.Sscanf(lines[len(lines)-1], "%d kB", &peak); err != nil {
		r.Fatalf("how much memory it had: %v in %s", err, out.String())
	}
	return peak << 10, took
}

func TestMemoryIsBoundedHoweverManyRowsAreOverdue(t *testing.T) {
	rows := sweepRows(t)
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Needs(rig.ColumnDefaults)
		r.Migrate()
		few, _ := sweep(r, fewRows)
		many, took := sweep(r, rows)
		r.Logf("peak of %d rows: %d MiB; of %d rows: %d MiB, in %s", fewRows, few>>20, rows, many>>20, took.Round(time.Second))
		if many > sweepLimit {
			r.Errorf("%d MiB for %d rows; want %d MiB at most", many>>20, rows, sweepLimit>>20)
		}
		if many > few+few/2 {
			r.Errorf("the peak grew from %d to %d MiB with the backlog", few>>20, many>>20)
		}
	})
}
