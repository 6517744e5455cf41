package blocking

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	text "prescient/sql"
)

// Nobody waits for the holder, so that it shows nowhere but to one who does.
// Each is alone with its server: MariaDB tells nothing new while others ask, too.

func TestWhoHasARowLockedIsNamedThoughNobodyWaits(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ThreadStates)
		r.fill(5)
		// Most keys are no text.
		r.Exec("UPDATE p_future_job SET job_key = X'B65A7C1836FF00112233445566778899' WHERE entity_key = '2'")
		db := r.looker(sees...)
		// As the role may: an operator only shares rows.
		changer := r.As("worker", time.Time{})
		for _, right := range sees {
			r.Exec("GRANT " + right + " TO '" + r.User("worker") + "'@'%'")
		}
		changer.SetMaxIdleConns(0)
		const key = "job_key = X'B65A7C1836FF00112233445566778899'"
		for name, c := range map[string]struct {
			lock  string
			share bool
		}{
			"a row by its key":        {"SELECT * FROM p_future_job WHERE " + key + " FOR UPDATE", false},
			"a row by its place":      {"SELECT * FROM p_future_job WHERE next_check_at = '2026-11-20 13:00:00' AND " + key + " FOR UPDATE", false},
			"a row that is shared":    {"SELECT * FROM p_future_job WHERE " + key + " LOCK IN SHARE MODE", true},
			"a row that is cancelled": {"DELETE FROM p_future_job WHERE " + key, false},
		} {
			holder := r.begins()
			r.does(holder, c.lock)
			started := time.Now()
			found, err := Look(t.Context(), changer, Options{Prefix: "p_", Dialect: r.Setting})
			r.Must(err)
			if len(found.Locked) != 1 || len(found.Locked[0].By) != 1 || found.Locked[0].By[0].ID != holder.id || found.Locked[0].EntityKey != "2" ||
				found.Locked[0].End != fmt.Sprintf("KILL %d", holder.id) || len(found.Chains) > 0 {
				t.Errorf("%s: %+v", name, found)
			}
			if took := time.Since(started); took > 10*time.Second {
				t.Errorf("%s: it took %s", name, took)
			}
			if found, err = Look(t.Context(), db, Options{Prefix: "p_", Dialect: r.Setting}); err != nil || len(found.Locked) != 1 && !c.share && len(found.Unseen) == 0 {
				t.Errorf("%s, as an operator: %+v, %v", name, found, err)
			}
			r.does(holder, "ROLLBACK")
		}
		found, err := Look(t.Context(), changer, Options{Prefix: "p_", Dialect: r.Setting})
		if r.Must(err); len(found.Locked) > 0 || len(found.Unseen) > 0 {
			t.Errorf("nobody has any: %+v", found)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_future_job"); n != 5 {
			t.Errorf("%d rows are left", n)
		}
	})
}

// A night's backlog is not in the way: the row is found wherever it stands among those that are overdue.
func TestALockedRowIsFoundBehindABacklog(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ThreadStates)
		r.Needs(t, rig.SkipLocked)
		r.fill(4*overduePage + 7)
		r.Exec(fmt.Sprintf("UPDATE p_future_job SET next_check_at = '2026-11-20 13:30:00', first_check_at = '2026-11-20 13:30:00' WHERE job_key >= X'%032x'", 3*overduePage))
		changer := r.As("worker", time.Time{})
		for _, right := range sees {
			r.Exec("GRANT " + right + " TO '" + r.User("worker") + "'@'%'")
		}
		changer.SetMaxIdleConns(0)
		for _, n := range []int{overduePage - 1, overduePage, 3*overduePage - 1, 3 * overduePage, 4*overduePage + 6} {
			holder := r.begins()
			r.does(holder, r.row(n))
			found, err := Look(t.Context(), changer, Options{Prefix: "p_", Dialect: r.Setting})
			r.Must(err)
			if len(found.Locked) != 1 || found.Locked[0].EntityKey != fmt.Sprint(n) || found.More || len(found.Locked[0].By) != 1 || found.Locked[0].By[0].ID != holder.id {
				t.Errorf("row %d: %+v", n, found)
			}
			r.does(holder, "ROLLBACK")
		}
	})
}

// A server that is short of everything answers late: the look says what it knows by then, and does not fail.
func TestARowWhoseHolderIsNotFoundInTimeIsLockedAllTheSame(t *testing.T) {
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := newRig(t, d)
		r.Needs(t, rig.ThreadStates)
		r.fill(1)
		r.does(r.begins(), r.row(0))
		l, err := open(t.Context(), r.looker(sees...), Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		held := func(ctx context.Context, longest time.Duration) (bool, error) {
			w, err := l.waiter(t.Context())
			r.Must(err)
			defer w.leave()
			w.longest = longest
			return w.heldBy(ctx, &LockedRow{EntityName: "order", EntityKey: "0", RawKey: make([]byte, 16), Slot: rig.At("13:00")})
		}
		for _, longest := range []time.Duration{0, lookEvery / 2, lookEvery + time.Millisecond} {
			if is, err := held(t.Context(), longest); !is || err != nil {
				t.Errorf("within %s: %t, %v", longest, is, err)
			}
		}
		l.shown = lookEvery
		all, ok, err := read(t.Context(), l, "SELECT SLEEP(1)", "who sleeps", func(row *int) []any { return []any{row} })
		if ok || len(all) > 0 || err != nil || !strings.Contains(fmt.Sprint(l.unseen), "who sleeps: the server said nothing for 150ms") {
			t.Errorf("%v, %t, %v; unseen: %v", all, ok, err, l.unseen)
		}
		ended, end := context.WithCancel(t.Context())
		end()
		if _, ok, err := read(ended, l, "SELECT 1", "one", func(row *int) []any { return []any{row} }); ok || err == nil {
			t.Errorf("read once nobody asks any more: %t, %v", ok, err)
		}
		if is, err := held(ended, longestWait); is || err == nil {
			t.Errorf("once nobody asks any more: %t, %v", is, err)
		}
	})
}

// Without the right to see whose a lock is it says so, and what helps.
func TestWhoMayNotSeeWhoseALockIsIsTold(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ThreadStates)
		r.fill(2)
		holder := r.begins()
		r.does(holder, r.row(1))
		db := r.As("worker", time.Time{})
		found, err := Look(t.Context(), db, Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		if len(found.Locked) != 1 || len(found.Locked[0].By) > 0 || found.Locked[0].EntityKey != "1" || !strings.Contains(fmt.Sprint(found.Unseen), "GRANT PROCESS ON *.*") {
			t.Errorf("%+v", found)
		}
		row, unseen, err := HeldBy(t.Context(), db, Options{Prefix: "p_", Dialect: r.Setting}, prescient.FutureJob{EntityName: "order", EntityKey: "1", JobExec: "ship"})
		if len(row.By) > 0 || err != nil || !strings.Contains(fmt.Sprint(unseen), "GRANT PROCESS ON *.*") {
			t.Errorf("%+v, %v, %v", row, unseen, err)
		}
	})
}

// What is set on the connection that waits does not stay in the pool.
func TestTheConnectionThatWaitsIsNotUsedAgain(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ThreadStates)
		r.fill(1)
		holder := r.begins()
		r.does(holder, r.row(0))
		db := r.Pool(time.Time{})
		wait := func() (seconds int) {
			r.Must(db.GetContext(t.Context(), &seconds, "SELECT @@SESSION.innodb_lock_wait_timeout"))
			return seconds
		}
		before := wait()
		if r.Server == text.MySQL && before == 1 {
			t.Skip("it is a second for all")
		}
		_, err := Look(t.Context(), db, Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		for range 20 {
			if now := wait(); now != before {
				t.Fatalf("it was %d, and is %d", before, now)
			}
		}
	})
}
