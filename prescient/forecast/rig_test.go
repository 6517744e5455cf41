package forecast

import (
	"testing"
	"time"

	"prescient/prescient/agent"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is the rig of this room.
type testRig struct{ *whole.Rig }

func eachServer(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		test(t, &testRig{whole.New(t, d, 15*time.Minute)})
	})
}

// eachFlavour is eachServer on one server of each flavour, for what only reads: its plans are looked at on all.
func eachFlavour(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		test(t, &testRig{whole.New(t, d, 15*time.Minute)})
	})
}

// maker makes forecasts by a server whose clock stands still.
func (r *testRig) maker(now time.Time) *Maker {
	r.T.Helper()
	m, err := New(r.T.Context(), r.As("worker", now), Options{Prefix: "p_", Dialect: r.Setting, Name: "maker"})
	r.Must(err)
	return m
}

// makeAt makes the forecast, and reads it as an analyst does.
func (r *testRig) makeAt(now time.Time) Report {
	r.T.Helper()
	made, err := r.maker(now).Make(r.T.Context())
	r.Must(err)
	if !made {
		r.T.Fatal("no forecast was made")
	}
	report, err := Read(r.T.Context(), r.As("analyst", now), "p_", r.Setting)
	r.Must(err)
	return report
}

// lives has an agent live at a time, which serves every slot.
func (r *testRig) lives(name string, concurrency int, now time.Time) {
	r.T.Helper()
	_, err := r.As("worker", now).ExecContext(r.T.Context(), `INSERT INTO p_agent (name, instance, host, pid, version, assignment, pools, concurrency, busy, long_runs, memory_bytes, clock_ms, started_at, seen_at, kind)
		VALUES (?, 1, 'host', 1, 'v1', 'every slot', '{}', ?, 0, 0, 0, 0, ?, ?, ?)`, name, concurrency, now, now, string(agent.Work))
	r.Must(err)
}

// partAt is the slot or day that begins at a time.
func partAt(t *testing.T, parts []Part, start time.Time) Part {
	t.Helper()
	for _, p := range parts {
		if p.Start.Equal(start) {
			return p
		}
	}
	t.Fatalf("nothing is told of %s", start)
	return Part{}
}

// execs are the lines of a slot or day by name.
func (p Part) execs() map[string]Line {
	all := make(map[string]Line)
	for _, l := range p.Lines {
		all[l.JobExec] = l
	}
	return all
}

// analyze has the optimiser know the tables, as the server does by itself after a while.
func (r *testRig) analyze() {
	r.T.Helper()
	for _, table := range []string{"p_future_job", "p_schedule"} {
		rows, err := r.Pool(time.Time{}).QueryContext(r.T.Context(), "ANALYZE TABLE "+table)
		r.Must(err)
		r.Must(rows.Close())
	}
}
