package agent

import (
	"errors"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
)

// beats has an agent heard of, and returns what it heard.
func (r *testRig) beats(a *Agent, stops bool) (drains bool) {
	r.T.Helper()
	drains, err := a.beat(r.T.Context(), stops)
	r.Must(err)
	return drains
}

// controls does something by the account of operators.
func (r *testRig) controls(do func(c Controls, tx prescient.DB) (int, error)) (int, error) {
	r.T.Helper()
	db := r.As("operator", time.Time{})
	c, err := OpenControls(r.T.Context(), db, "p_", r.Setting)
	r.Must(err)
	tx, err := db.BeginTx(r.T.Context(), nil)
	r.Must(err)
	n, err := do(c, tx)
	if err != nil {
		r.Must(tx.Rollback())
		return 0, err
	}
	return n, tx.Commit()
}

func (r *testRig) drain(name string) (int, error) {
	return r.controls(func(c Controls, tx prescient.DB) (int, error) {
		return c.Drain(audit.With(r.T.Context(), audit.By{Person: "ada", Reason: "a new kernel"}), tx, name)
	})
}

func (r *testRig) undrain(name string) (int, error) {
	return r.controls(func(c Controls, tx prescient.DB) (int, error) { return c.Undrain(r.T.Context(), tx, name) })
}

func TestAnAgentHearsWithItsHeartbeatThatItIsToDrain(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		a := r.agent(r.options("a"))
		if first, second := r.beats(a, false), r.beats(a, false); first || second {
			t.Error("nobody wants it to drain")
		}
		for _, want := range []int{1, 0} {
			if n, err := r.drain("a"); n != want || err != nil {
				t.Errorf("%d, %v; want %d", n, err, want)
			}
		}
		if got := r.list()[0]; got.State != Live || !got.Drain || got.WantedBy != "ada" || got.WantedAt == nil {
			t.Errorf("before it has heard of it: %+v", got)
		}
		_, turns := a.Drains()
		drains := r.beats(a, false)
		if !drains || !a.turn(drains) || a.turn(drains) {
			t.Error("it has not heard of it")
		}
		<-turns
		if drains, _ := a.Drains(); !drains {
			t.Error("it does not say so")
		}
		r.beats(a, false)
		if got := r.list()[0]; got.State != Draining {
			t.Errorf("%+v", got)
		}
		// Another process of its name, as after a start, works.
		other := r.agent(r.options("a"))
		if first, second := r.beats(other, false), r.beats(other, false); first || second {
			t.Error("one that is started anew drains")
		}
		for _, want := range []int{1, 0} {
			if n, err := r.undrain("a"); n != want || err != nil {
				t.Errorf("%d, %v; want %d", n, err, want)
			}
		}
		if drains := r.beats(a, false); drains || !a.turn(drains) {
			t.Error("it has not heard that it is over")
		}
		r.beats(a, false)
		if got := r.list()[0]; got.State != Live || got.Drain || got.WantedBy != "" {
			t.Errorf("%+v", got)
		}
		log, err := audit.Open(t.Context(), r.Pool(time.Time{}), audit.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		entries, err := log.List(t.Context(), r.Pool(time.Time{}), audit.Filter{Kind: audit.Agent, ID: "a"})
		r.Must(err)
		if len(entries) != 2 || entries[0].Verb != "undrain" || entries[1].Verb != "drain" || entries[1].Person != "ada" || entries[1].Reason != "a new kernel" {
			t.Errorf("%+v", entries)
		}
	})
}

func TestOnlyWhatStaysUpAndLivesIsDrained(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		for i, kind := range []Kind{Work, Run} {
			r.Exec(`INSERT INTO p_agent (name, instance, kind, host, pid, version, assignment, pools, concurrency, busy, long_runs, memory_bytes, clock_ms, started_at, seen_at)
				VALUES (?, ?, ?, 'h', 1, 'v', 'every slot', '{}', 1, 0, 0, 0, 0, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) - INTERVAL ? SECOND)`, string(kind), i, kind, 120*(1-i))
		}
		r.Exec("UPDATE p_agent SET wanted = 'drain', stopping = 1 WHERE kind = 'run'") // by plain SQL
		for _, known := range r.list() {
			if known.Kind == Run && (known.Drain || known.State != Stopping) {
				t.Errorf("a timer drains: %+v", known)
			}
		}
		r.Exec("UPDATE p_agent SET wanted = NULL")
		for _, name := range []string{"nobody", "work", "run"} { // of which work is dead
			_, one := r.drain(name)
			_, other := r.undrain(name)
			if !errors.Is(one, prescient.ErrNotFound) || !errors.Is(other, prescient.ErrNotFound) {
				t.Errorf("%s: %v, %v", name, one, other)
			}
		}
		if _, err := r.drain("\xff"); !errors.Is(err, prescient.ErrInvalid) {
			t.Error(err)
		}
	})
}

func TestWhatPlainSQLWantsOfAgentsIsBounded(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		a := r.agent(r.options("a"))
		r.beats(a, false)
		for _, set := range []string{"wanted = 'stop'", "wanted = ''", "wanted = 'DRAIN'", "wanted = 'drain', wanted_at = '0999-12-31'"} {
			_, err := r.As("operator", time.Time{}).ExecContext(t.Context(), "UPDATE p_agent SET "+set)
			if !errno.Is(err, errno.CheckMySQL, errno.CheckMariaDB) {
				t.Errorf("%s: %v", set, err)
			}
		}
		_, err := r.As("operator", time.Time{}).ExecContext(t.Context(), "UPDATE p_agent SET wanted = 'drain'")
		r.Must(err)
		if !r.beats(a, false) || r.list()[0].Wish() != "" || !r.list()[0].Drain {
			t.Errorf("%+v", r.list())
		}
	})
}

func TestWorkingAreThoseThatRunSlots(t *testing.T) {
	all := []Known{{Name: "a", State: Live, Kind: Work}, {Name: "b", State: Live, Kind: Work, Drain: true}, {Name: "c", State: Dead, Kind: Work},
		{Name: "d", State: Live, Kind: Sweep}, {Name: "e", State: Live, Kind: Run}}
	deaf := func(at time.Duration) Known {
		wanted := time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)
		return Known{Name: "f", State: Live, Kind: Work, Drain: true, WantedAt: &wanted, SeenAt: wanted.Add(at)}
	}
	if k := deaf(time.Second); Working([]Known{k}, "") != 0 || k.Wish() != " since 2026-11-20 13:00:00" {
		t.Errorf("one that was heard of a second later: %q", k.Wish())
	}
	if k := deaf(Every); Working([]Known{k}, "") != 1 || k.Wish() != " since 2026-11-20 13:00:00, but works: its program is older than drain" {
		t.Errorf("one that goes on: %q", k.Wish())
	}
	if with, beside := Working(all, ""), Working(all, "a"); with != 2 || beside != 1 {
		t.Errorf("%d, and %d beside a", with, beside)
	}
}
