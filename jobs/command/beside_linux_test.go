package command

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker"
	text "prescient/sql"
	"prescient/sql/migrate"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// besidePhases is the variable that says how many phases there are: more of them tell more of the lateness.
const besidePhases = "PRESCIENT_BESIDE_PHASES"

// Short checks are due in each second. In every other phase of some seconds, two commands beside them allocate all that they get, again and
// again. The lateness of the short checks in both kinds of phases is printed (with -v); it must not grow by more than a second.
func TestShortChecksBesideCommandsThatAllocateWithoutEnd(t *testing.T) {
	const phase, each = 4, 25 // seconds, checks in each
	phases := 6
	if given := os.Getenv(besidePhases); given != "" {
		var err error
		if phases, err = strconv.Atoi(given); err != nil || phases < 2 || phases%2 != 0 {
			t.Fatalf("%s=%s: want an even number", besidePhases, given)
		}
	}
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		setting := text.Dialect(os.Getenv("PRESCIENT_TEST_DIALECT"))
		_, err := migrate.Up(t.Context(), d.Open(t, ""), migrate.Schema{Resolution: time.Second, Dialect: setting})
		must(err)
		db, err := connect.Open(d.DSN, 0)
		must(err)
		t.Cleanup(func() { _ = db.Close() })
		registry := prescient.NewRegistry()
		must(registry.Register("short", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{}))
		hog := script(t, `while :; do awk 'BEGIN { s = "0123456789"; for (;;) s = s s }'; done 2>/dev/null`,
			Options{Memory: 256 << 20, Timeout: (phase - 1) * time.Second, Grace: 100 * time.Millisecond})
		must(registry.Register("hog", hog.Check, hog.Guards(prescient.Guards{MaxErrors: prescient.None})))
		checks, err := client.New(t.Context(), db, client.Options{Dialect: setting})
		must(err)

		var begin time.Time
		must(db.Get(&begin, "SELECT UTC_TIMESTAMP()"))
		begin = begin.Add(5 * time.Second)
		insert := func(exec, key string, due time.Time) prescient.NewJob {
			return prescient.NewJob{Entity: prescient.Entity{Name: exec, Key: key}, JobExec: exec, DueAt: due}
		}
		var jobs []prescient.NewJob
		for second := range phases * phase {
			due := begin.Add(time.Duration(second) * time.Second)
			for i := range each {
				jobs = append(jobs, insert("short", fmt.Sprint(second, "-", i), due))
			}
			if second%(2*phase) == phase {
				jobs = append(jobs, insert("hog", fmt.Sprint(second, "-a"), due), insert("hog", fmt.Sprint(second, "-b"), due))
			}
		}
		_, err = checks.InsertMany(t.Context(), db, jobs)
		must(err)

		w, err := worker.New(t.Context(), db, worker.Options{Registry: registry, Dialect: setting})
		must(err)
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.Work(ctx) }()
		for end := time.Now().Add(time.Duration(phases*phase)*time.Second + 2*time.Minute); ; time.Sleep(time.Second) {
			var n int
			must(db.Get(&n, "SELECT COUNT(*) FROM job_history"))
			if n == len(jobs) {
				break
			}
			if time.Now().After(end) {
				t.Fatalf("%d of %d have ended", n, len(jobs))
			}
		}
		stop()
		must(<-done)

		var hogs int
		must(db.Get(&hogs, "SELECT COUNT(*) FROM job_history WHERE job_exec = 'hog' AND outcome = 'timed_out'"))
		var with, without []float64
		rows, err := db.Query("SELECT TIMESTAMPDIFF(SECOND, ?, slot), lateness_ms FROM job_history WHERE job_exec = 'short' AND outcome = 'done'", begin)
		must(err)
		defer rows.Close()
		for rows.Next() {
			var second int
			var late float64
			must(rows.Scan(&second, &late))
			if second/phase%2 == 1 {
				with = append(with, late)
			} else {
				without = append(without, late)
			}
		}
		must(rows.Err())
		slices.Sort(with)
		slices.Sort(without)
		p := func(sorted []float64, q float64) float64 { return sorted[int(q*float64(len(sorted)-1))] }
		for _, of := range []struct {
			what   string
			sorted []float64
		}{{"without the commands", without}, {"beside the commands ", with}} {
			t.Logf("lateness of %d short checks %s: p50 %.0f ms, p90 %.0f ms, p99 %.0f ms, at most %.0f ms", len(of.sorted), of.what, p(of.sorted, .5), p(of.sorted, .9), p(of.sorted, .99), p(of.sorted, 1))
		}
		if hogs != phases || len(with) != len(without) || p(with, .99) > p(without, .99)+1000 {
			t.Errorf("%d commands ran to their end", hogs)
		}
	})
}
