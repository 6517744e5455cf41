package rulebook_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/rule"
	"prescient/prescient/rulebook"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is an installation with rules, at the running clock, on the account that serve has for operators.
type testRig struct {
	*app.Rig
	book *rulebook.Book
	db   *sqlx.DB
	now  time.Time
}

func eachServer(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, newRig(t, d)) })
}

// eachFlavour is eachServer for what is neither plans nor locks.
func eachFlavour(t *testing.T, test func(t *testing.T, r *testRig)) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) { test(t, newRig(t, d)) })
}

func newRig(t *testing.T, d servertest.Database) *testRig {
	t.Helper()
	r := &testRig{Rig: app.New(t, d, 15*time.Minute)}
	r.book, r.db, r.now = rulebook.New(r.Client), r.As("serve-operator", time.Time{}), time.Now().UTC().Truncate(time.Second)
	return r
}

var remind = rule.Rule{Name: "remind", Occasion: "placed", JobExec: "check", Delay: 3 * time.Hour, ExpiresAfter: time.Hour, Ends: []string{"shipped"}}

// put makes or changes the rule.
func (r *testRig) put(change func(*rule.Rule)) uint32 {
	r.T.Helper()
	is := remind
	if change != nil {
		change(&is)
	}
	_, version, err := r.book.Put(r.T.Context(), r.db, is, 0, rule.Move)
	r.Must(err)
	return version
}

// report says by a client that knows only what is now that something has happened.
func (r *testRig) report(n int, at time.Time) {
	r.T.Helper()
	c, err := client.New(r.T.Context(), r.App, client.Options{Prefix: "p_", Dialect: r.Setting})
	r.Must(err)
	for i := range n {
		_, err := c.Happened(r.T.Context(), r.App, "placed", rig.Order(fmt.Sprint(i)), at, nil)
		r.Must(err)
	}
}

// walk walks until all is moved, and returns what was done.
func (r *testRig) walk() (all rulebook.Step) {
	r.T.Helper()
	r.Did(r.book.WorkOn(r.T.Context(), r.db, "remind", "w", func(s rulebook.Step) {
		all.Moved, all.Late, all.Ended = all.Moved+s.Moved, all.Late+s.Late, all.Ended+s.Ended
	}))
	return all
}

func TestARuleHasAVersionForEachChange(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		ctx := t.Context()
		full := func(is *rule.Rule) {
			is.Spread, is.OnPending, is.Payload, is.MaxChecks, is.MaxErrors = time.Hour, prescient.Later, []byte(`{"a": "ü"}`), 3, prescient.None
		}
		if v := r.put(full); v != 1 {
			t.Errorf("made as version %d", v)
		}
		one, err := r.book.Get(ctx, r.db, "remind")
		r.Must(err)
		want := remind
		if full(&want); !one.Rule.Same(want) || one.State != rule.On || one.Since.IsZero() || !one.Since.Equal(one.CreatedAt) {
			t.Errorf("%+v", one)
		}
		changed, v, err := r.book.Put(ctx, r.db, want, 1, "")
		if err != nil || changed || v != 1 {
			t.Errorf("the same again: %v, %d, %v", changed, v, err)
		}
		if v := r.put(nil); v != 2 {
			t.Errorf("changed to version %d", v)
		}
		for name, refused := range map[string]struct {
			change  func(*rule.Rule)
			version uint32
			older   rule.Older
			want    error
		}{
			"another version":       {func(r *rule.Rule) { r.Delay = 0 }, 1, "", rulebook.ErrStale},
			"another occasion":      {func(r *rule.Rule) { r.Occasion = "paid" }, 0, "", rulebook.ErrFixed},
			"another job_exec":      {func(r *rule.Rule) { r.JobExec = "other" }, 0, "", rulebook.ErrFixed},
			"one that is not there": {func(r *rule.Rule) { r.Name = "other" }, 1, "", rulebook.ErrNotFound},
			"no rule":               {func(r *rule.Rule) { r.Delay = -1 }, 0, "", prescient.ErrInvalid},
			"a way that is none":    {nil, 0, rule.End, prescient.ErrInvalid},
		} {
			is := remind
			if refused.change != nil {
				refused.change(&is)
			}
			if _, _, err := r.book.Put(ctx, r.db, is, refused.version, refused.older); !errors.Is(err, refused.want) {
				t.Errorf("%s: %v; want %v", name, err, refused.want)
			}
		}
		r.Did(r.book.Pause(ctx, r.db, "remind", rule.Leave))   // 3
		r.Did(r.book.Resume(ctx, r.db, "remind"))              // 4
		r.Did(r.book.Resume(ctx, r.db, "remind"))              // is on
		r.Did(r.book.Pause(ctx, r.db, "remind", rule.End))     // 5
		r.Must(r.book.Delete(ctx, r.db, "remind", rule.Leave)) // 6
		if err := r.book.Delete(ctx, r.db, "remind", rule.Leave); !errors.Is(err, rulebook.ErrNotFound) {
			t.Errorf("deleted twice: %v", err)
		}
		if _, err := r.book.Get(ctx, r.db, "remind"); !errors.Is(err, rulebook.ErrNotFound) {
			t.Errorf("read after it was deleted: %v", err)
		}
		if all, err := r.book.List(ctx, r.db, "", 10); err != nil || len(all) != 0 {
			t.Errorf("%+v, %v", all, err)
		}
		if v := r.put(nil); v != 7 {
			t.Errorf("made anew as version %d", v)
		}
		all, err := r.book.List(ctx, r.db, "", 10)
		if r.Must(err); len(all) != 1 || all[0].Version != 7 || all[0].EndedTo != 5 || all[0].MovedTo != 7 {
			t.Errorf("%+v", all)
		}
		versions, err := r.book.Versions(ctx, r.db, "remind", 0, 10)
		r.Must(err)
		var states []string
		for _, v := range versions {
			states = append(states, fmt.Sprint(v.Version, " ", v.State))
		}
		if got := strings.Join(states, ", "); got != "7 on, 6 deleted, 5 off, 4 on, 3 off, 2 on, 1 on" || !versions[6].Rule.Same(want) {
			t.Errorf("%s, %+v", got, versions)
		}
		verbs := r.Tally("SELECT CONCAT(verb, ' ', version), 1 FROM p_audit_log WHERE kind = 'rule' AND incarnation = (SELECT created_at FROM p_rule)")
		for _, want := range []string{"create 1", "update 2", "pause 3", "resume 4", "pause 5", "delete 6", "create 7"} {
			if verbs[want] != 1 {
				t.Errorf("the audit lacks %q: %v", want, verbs)
			}
		}
	})
}

// After a change all that is pending is due by the new version, also what was inserted meanwhile; what others have moved, called or locked stays.
func TestAWalkMovesWhatIsPending(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.put(nil)
		r.Exec("UPDATE p_rule SET since = '2020-01-01'")
		const n = 60
		r.report(n, r.now)
		r.Exec("UPDATE p_future_job SET due_at = due_at + INTERVAL 1 SECOND WHERE entity_key = '1'")
		r.Exec("UPDATE p_future_job SET check_count = 1 WHERE entity_key = '2'")
		r.Exec("UPDATE p_future_job SET rule_version = 9 WHERE entity_key = '3'")
		r.Exec("INSERT INTO p_long_run (job_key, token, slot, due_at, inserted_at, check_count) SELECT job_key, 1, next_check_at, due_at, inserted_at, 0 FROM p_future_job WHERE entity_key = '4'")
		// A client that has not read the change yet.
		late, err := client.New(t.Context(), r.App, client.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		_, err = late.Happened(t.Context(), r.App, "placed", rig.Order("late 0"), r.now, nil)
		r.Must(err)
		if v := r.put(func(is *rule.Rule) { is.Delay, is.ExpiresAfter = 4*time.Hour, 0 }); v != 2 {
			t.Errorf("version %d", v)
		}
		// An app has one locked for a while.
		tx, err := r.App.BeginTx(t.Context(), nil)
		r.Must(err)
		_, err = tx.Exec("SELECT 1 FROM p_future_job WHERE entity_key = '5' FOR UPDATE")
		r.Must(err)
		released := time.AfterFunc(2*time.Second, func() { _ = tx.Rollback() })
		defer released.Stop()
		did := rulebook.Step{}
		inserted, steps := 1, 0
		r.Did(r.book.WorkOn(t.Context(), r.db, "remind", "w", func(s rulebook.Step) {
			if steps++; steps <= 2 {
				_, err := late.Happened(t.Context(), r.App, "placed", rig.Order(fmt.Sprint("late ", inserted)), r.now, nil)
				r.Must(err)
				inserted++
			}
			did.Moved += s.Moved
		}))
		stay := 4
		moved := r.Count("SELECT COUNT(*) FROM p_future_job WHERE rule_version = 2 AND due_at = occasion_at + INTERVAL 4 HOUR AND next_check_at >= due_at AND next_check_at < due_at + INTERVAL 15 MINUTE AND expires_at IS NULL")
		if moved != n-stay+inserted || did.Moved != moved || r.Count("SELECT COUNT(*) FROM p_future_job") != n+inserted {
			t.Errorf("%d are as the new version says, of %d; %+v", moved, n+inserted, did)
		}
		one, err := r.book.Get(t.Context(), r.db, "remind")
		if r.Must(err); one.Walk.To != 2 || one.Walk.Moved != uint64(moved) {
			t.Errorf("%+v", one.Walk)
		}
		if again := r.walk(); again != (rulebook.Step{}) {
			t.Errorf("once more: %+v", again)
		}
	})
}

// What is in a slot that is about to begin is its slot run's: of a check that it has read, and that moves meanwhile, it would call for both times.
func TestAWalkLeavesASlotAloneThatIsAboutToBegin(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.put(nil)
		r.Exec("UPDATE p_rule SET since = '2020-01-01'")
		r.report(3, r.now)
		var slot time.Time
		r.Must(r.db.QueryRow("SELECT MIN(next_check_at) FROM p_future_job").Scan(&slot))
		r.put(func(is *rule.Rule) { is.Delay = 4 * time.Hour })
		for _, c := range []struct {
			before time.Duration
			moves  int
		}{{time.Second, 0}, {2 * time.Second, 0}, {3 * time.Second, 3}} {
			r.Exec("UPDATE p_rule SET walked_to = 1, walk_pass = 0, walk_reached = ''")
			r.db = r.As("serve-operator", slot.Add(-c.before))
			if did := r.walk(); did.Moved != c.moves || r.Count("SELECT COUNT(*) FROM p_future_job WHERE rule_version = 2") != c.moves {
				t.Errorf("%s before their slot: %+v; want %d moved", c.before, did, c.moves)
			}
		}
	})
}

// A shorter delay makes some late, which are counted; a rule that is switched off takes its checks along, or leaves them.
func TestAWalkCountsWhatIsLateAndEndsWhatARuleTakesAlong(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.put(nil)
		r.Exec("UPDATE p_rule SET since = '2020-01-01'")
		r.report(30, r.now.Add(-2*time.Hour))
		r.put(func(is *rule.Rule) { is.Delay = time.Hour })
		if did := r.walk(); did.Moved != 30 || did.Late != 30 {
			t.Errorf("made shorter: %+v", did)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at > UTC_TIMESTAMP() AND due_at < UTC_TIMESTAMP()"); n != 30 {
			t.Errorf("%d are in the next slot", n)
		}
		r.Did(r.book.Pause(t.Context(), r.db, "remind", rule.Leave))
		if did := r.walk(); did != (rulebook.Step{}) || r.Count("SELECT COUNT(*) FROM p_future_job") != 30 {
			t.Errorf("left: %+v", did)
		}
		r.Did(r.book.Pause(t.Context(), r.db, "remind", rule.End))
		if did := r.walk(); did.Ended != 30 || r.Count("SELECT COUNT(*) FROM p_future_job") != 0 || r.Count("SELECT COUNT(*) FROM p_job_history WHERE outcome = 'cancelled'") != 30 {
			t.Errorf("taken along: %+v", did)
		}
	})
}

// Of those who walk at once one does, and the others give way.
func TestOneWalksAtATime(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.put(nil)
		r.Exec("UPDATE p_rule SET since = '2020-01-01'")
		r.report(50, r.now)
		r.put(func(is *rule.Rule) { is.Delay = 5 * time.Hour })
		var wait sync.WaitGroup
		over, errs := make([]bool, 3), make([]error, 3)
		for i := range errs {
			wait.Go(func() {
				over[i], errs[i] = r.book.WorkOn(t.Context(), r.db, "remind", fmt.Sprint("w", i), func(rulebook.Step) {})
			})
		}
		wait.Wait()
		if !slices.Contains(over, true) || errors.Join(errs...) != nil {
			t.Errorf("over: %v, %v", over, errs)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE rule_version = 2 AND due_at = occasion_at + INTERVAL 5 HOUR"); n != 50 {
			t.Errorf("%d were moved", n)
		}
		one, err := r.book.Get(t.Context(), r.db, "remind")
		if r.Must(err); one.Walk.Moved != 50 {
			t.Errorf("%+v", one.Walk)
		}
	})
}

// A walk whose process died goes on in another, once its lease is over; so does that of a rule with the longest name.
func TestAnotherGoesOnWithAWalk(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		ctx := t.Context()
		long := remind
		long.Name = strings.Repeat("n", rule.MaxName)
		r.put(nil)
		_, _, err := r.book.Put(ctx, r.db, long, 0, rule.Move)
		r.Must(err)
		r.Exec("UPDATE p_rule SET since = '2020-01-01'")
		r.report(20, r.now)
		r.put(func(is *rule.Rule) { is.Delay = 4 * time.Hour })
		r.Did(r.book.Pause(ctx, r.db, long.Name, rule.End))
		dies := r.As("serve-admin", time.Time{}) // a pool of its own
		over, err := r.book.WorkOn(ctx, dies, "remind", "first", func(rulebook.Step) { _ = dies.Close() })
		if over || err == nil {
			t.Fatalf("it came to its end: %v, %v", over, err)
		}
		r.Must(r.book.Work(ctx, r.db, "second"))
		stands := func() string {
			return fmt.Sprint(r.Tally("SELECT CONCAT(LEFT(name, 6), ' ', walked_to), walk_moved + walk_ended FROM p_rule"))
		}
		if got := stands(); got != "map[nnnnnn 2:20 remind 0:20]" {
			t.Errorf("while the lease of the dead one lives: %s", got)
		}
		r.Exec("UPDATE p_duty SET allocated_until = '2026-01-01' WHERE name = 'rule/remind'")
		r.Must(r.book.Work(ctx, r.db, "second"))
		if got := stands(); got != "map[nnnnnn 2:20 remind 2:20]" {
			t.Errorf("once it is over: %s", got)
		}
	})
}

// What a rule would have made is told from how the checks of a rule of the same occasion ended.
func TestARuleIsTriedOnWhatHappened(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		r.put(func(is *rule.Rule) { is.Delay, is.Spread = 30*time.Minute, 0 })
		r.Exec("UPDATE p_rule SET since = '2020-01-01'")
		r.report(5, r.now)
		r.Exec("UPDATE p_future_job SET inserted_at = ? WHERE entity_key < '4'", r.now.Add(-3*time.Hour))
		for key, outcome := range map[string]string{"0": "cancelled", "1": "done", "2": "cancelled"} {
			ended := r.now.Add(-2 * time.Hour)
			if key == "2" {
				ended = r.now.Add(-30 * time.Minute)
			}
			r.Exec(`INSERT INTO p_job_history SELECT entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at, check_count, error_count, put_off_count, last_error,
				total_ms, payload, revision, inserted_at, next_check_at, ?, NULL, NULL, ?, 0, NULL, 'w', expires_at FROM p_future_job WHERE entity_key = ?`, outcome, ended, key)
			r.Exec("DELETE FROM p_future_job WHERE entity_key = ?", key)
		}
		try := func(delay time.Duration) string {
			is := remind
			is.Name, is.Delay = "second", delay
			t, err := r.book.Try(r.T.Context(), r.db, is, r.now.Add(-24*time.Hour), r.now.Add(time.Hour), time.Minute)
			r.Must(err)
			return fmt.Sprint(t.Witness, " ", t.Whole, " of ", t.Occasions, ": ", t.Ended, " ended, ", t.Called, " called, ", t.Open, " open, at most ", t.Peak)
		}
		for delay, want := range map[time.Duration]string{
			0:                "remind true of 5: 0 ended, 5 called, 0 open, at most 4",
			90 * time.Minute: "remind true of 5: 1 ended, 2 called, 2 open, at most 2",
			5 * time.Hour:    "remind true of 5: 2 ended, 0 called, 3 open, at most 0",
		} {
			if got := try(delay); got != want && !(delay == 0 && strings.Contains(got, "5 called")) {
				t.Errorf("after %s: %s; want %s", delay, got, want)
			}
		}
		is := remind
		for since, why := range map[string]string{"2020-01-01": "No check of rule remind that was made in that time", "2120-01-01": "Rule remind was made or switched on at 2120-01-01 00:00:00 (UTC): what happened before made no check"} {
			r.Exec("UPDATE p_rule SET since = ?", since)
			if tried, err := r.book.Try(t.Context(), r.db, is, r.now.Add(-48*time.Hour), r.now.Add(-24*time.Hour), time.Minute); err != nil || tried.Occasions != 0 || !strings.HasPrefix(tried.Why(), why) {
				t.Errorf("%q, %+v, %v; want %q", tried.Why(), tried, err, why)
			}
		}
		is.Occasion, is.Name = "nobody.knows", "other"
		if _, err := r.book.Try(t.Context(), r.db, is, r.now.Add(-time.Hour), r.now, time.Second); !errors.Is(err, rulebook.ErrNotFound) {
			t.Errorf("%v", err)
		}
	})
}

// Whoever makes a rule and reports by the same client goes by the rule at once.
func TestAClientKnowsTheRulesThatItMakes(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		c, err := client.New(t.Context(), r.db, client.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		book := rulebook.New(c)
		other := remind
		other.Name = "second"
		for n, is := range []rule.Rule{remind, other} {
			var err error
			if n == 0 {
				_, _, err = book.Put(t.Context(), r.db, is, 0, rule.Move)
			} else {
				_, err = book.Create(t.Context(), r.db, is)
			}
			r.Must(err)
			did, err := c.Happened(t.Context(), r.db, "placed", rig.Order(fmt.Sprint(n)), r.now.Add(time.Hour), nil)
			r.Must(err)
			if len(did.Checks) != n+1 {
				t.Errorf("with %d rules %d checks were made", n+1, len(did.Checks))
			}
		}
	})
}
