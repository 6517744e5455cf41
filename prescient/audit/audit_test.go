package audit_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
	text "prescient/sql"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is an installation with its audit.
type testRig struct {
	*app.Rig
	log audit.Log
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
	var err error
	r.log, err = audit.Open(t.Context(), r.App, audit.Options{Prefix: "p_", Dialect: r.Setting})
	r.Must(err)
	return r
}

// list lists what an operator sees.
func (r *testRig) list(f audit.Filter) []audit.Stored {
	r.T.Helper()
	found, err := r.log.List(r.T.Context(), r.As("operator", time.Time{}), f)
	r.Must(err)
	return found
}

// told is what entries are about, in short.
func told(entries []audit.Stored) (all []string) {
	for _, e := range entries {
		all = append(all, fmt.Sprintf("%s %s %s %d", e.Kind, e.ID, e.Verb, e.Version))
	}
	return all
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%s:\n%q\nwant\n%q", what, got, want)
	}
}

func entry(id, verb string) audit.Entry {
	return audit.Entry{Kind: audit.Schedule, ID: id, Verb: verb, Version: 1}
}

func TestAnEntrySaysWhoFromWhereWhatAndWhy(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		ctx := audit.With(t.Context(), audit.By{Person: "Ada", Reason: "the customer asked", Host: "h7", Program: "shop", Command: "schedule update"})
		before := time.Now().Add(-time.Minute)
		r.Must(r.log.Record(ctx, r.App, audit.Entry{Kind: audit.Schedule, ID: "digest/7", Verb: audit.Update, Version: 3,
			Incarnation: rig.At("10:00").Add(7 * time.Microsecond), Before: map[string]any{"zone": "UTC"}, After: map[string]any{"zone": "Europe/Berlin"}}))
		e := r.list(audit.Filter{ID: "digest/7"})[0]
		if !strings.HasPrefix(e.Account, r.User("app-reschedule")+"@") || e.At.Before(before) || e.At.After(time.Now().Add(time.Minute)) {
			t.Errorf("%+v", e)
		}
		e.Account, e.At = "", time.Time{}
		text, err := json.Marshal(e)
		r.Must(err)
		same(t, "the entry", string(text), `{"at":"0001-01-01T00:00:00Z","kind":"schedule","id":"digest/7","verb":"update","version":3,"incarnation":"2026-11-20T10:00:00.000007Z","account":"",`+
			`"person":"Ada","host":"h7","program":"shop","command":"schedule update","reason":"the customer asked","before":{"zone":"UTC"},"after":{"zone":"Europe/Berlin"}}`)
		r.Must(r.log.Record(t.Context(), r.App, entry("digest/8", audit.Create)))
		if e := r.list(audit.Filter{ID: "digest/8"})[0]; e.Program != "audit.test" || e.Person+e.Command+e.Reason != "" || e.Before != nil || e.After != nil {
			t.Errorf("of nobody who said so: %+v", e)
		}
	})
}

func TestTheEntriesOfAnObjectAreListedByTime(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		record := func(minute int, entries ...audit.Entry) {
			r.Must(r.log.Record(t.Context(), r.AppAt(rig.At("10:00").Add(time.Duration(minute)*time.Minute)), entries...))
		}
		version := func(verb string, n uint64) audit.Entry {
			return audit.Entry{Kind: audit.Schedule, ID: "a", Verb: verb, Version: n}
		}
		record(1, version(audit.Create, 1), entry("b", audit.Create))
		rolledBack := rig.Begin(t, r.App, sql.LevelDefault)
		r.Must(r.log.Record(t.Context(), rolledBack, version(audit.Update, 2), entry("c", audit.Create)))
		r.Must(rolledBack.Rollback())
		record(2, version(audit.Update, 2))
		record(3, version(audit.Delete, 3))
		same(t, "a", told(r.list(audit.Filter{ID: "a"})), []string{"schedule a delete 3", "schedule a update 2", "schedule a create 1"})
		same(t, "b", told(r.list(audit.Filter{ID: "b"})), []string{"schedule b create 1"})
		if found := r.list(audit.Filter{ID: "c"}); found != nil {
			t.Errorf("of what was rolled back: %q", told(found))
		}
		record(4, audit.Entry{Kind: audit.Job, ID: "a", Verb: audit.Create}) // another object
		same(t, "every a", told(r.list(audit.Filter{ID: "a", Limit: 2})), []string{"job a create 0", "schedule a delete 3"})
	})
}

// Whatever an account has written and not committed, at whichever isolation and of whichever object, others write of it at once.
func TestAnOpenTransactionHoldsUpNobodysEntry(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		all := []audit.Entry{entry("a", audit.Update), {Kind: audit.JobExec, ID: "*", Verb: audit.Pause}, {Kind: audit.Installation, ID: audit.InstallationID, Verb: "prune"}}
		for _, isolation := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead, sql.LevelSerializable} {
			for range 3 {
				tx := rig.Begin(t, r.App, isolation)
				r.Must(r.log.Record(t.Context(), tx, all...))
				defer tx.Rollback()
			}
			for _, role := range []string{"operator", "worker", "owner"} {
				db := r.As(role, time.Time{})
				took := rig.Quickest(func() { r.Must(r.log.Record(t.Context(), db, all...)) })
				if took > 900*time.Millisecond { // a wait for a lock is 1 s at least
					t.Errorf("%s waited for %s", role, took)
				}
			}
		}
	})
}

func TestThousandsOfEntriesGoByAFewStatements(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		var entries []audit.Entry
		for i := range 2345 {
			entries = append(entries, entry(fmt.Sprint(i), audit.Create))
		}
		r.Must(r.log.Record(t.Context(), r.App, entries...))
		r.Must(r.log.Record(t.Context(), r.App, entries...))
		if n := r.Count("SELECT COUNT(*) FROM p_audit_log WHERE kind = 'schedule'"); n != 2*len(entries) {
			t.Errorf("%d entries; want %d", n, 2*len(entries))
		}
	})
}

func TestTextIsKeptWhateverItIs(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		modes := []string{"", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES", "ANSI"}
		if r.Server == text.Vitess { // which reads no other SQL
			modes = modes[:1]
		}
		for _, mode := range modes {
			conn, err := r.App.Conn(t.Context())
			r.Must(err)
			_, err = conn.ExecContext(t.Context(), "SET sql_mode = '"+mode+"', time_zone = '-08:00', NAMES latin1")
			if err != nil {
				_, err = conn.ExecContext(t.Context(), "SET NAMES latin1")
				r.Must(err)
				_, err = conn.ExecContext(t.Context(), "SET sql_mode = '"+mode+"', time_zone = '-08:00'")
			}
			r.Must(err)
			for i, nasty := range rig.Nasty() {
				id := fmt.Sprintf("%s%d%s", mode, i, strings.TrimRight(nasty, " "))
				ctx := audit.With(t.Context(), audit.By{Person: nasty, Reason: nasty, Host: nasty + "h", Program: nasty + "p", Command: nasty})
				r.Must(r.log.Record(ctx, conn, audit.Entry{Kind: audit.Schedule, ID: id, Verb: audit.Create, Before: nasty, After: map[string]string{nasty: nasty}}))
				found, err := r.log.List(t.Context(), r.As("operator", time.Time{}), audit.Filter{Kind: audit.Schedule, ID: id, Person: nasty})
				r.Must(err)
				if len(found) != 1 {
					t.Errorf("%q: %q", nasty, told(found))
					continue
				}
				var before string
				r.Must(json.Unmarshal(found[0].Before, &before))
				if e := found[0]; e.Person != nasty || e.Reason != nasty || e.ID != id || before != nasty || time.Since(e.At).Abs() > time.Minute {
					t.Errorf("%q: %+v", nasty, e)
				}
			}
			r.Must(conn.Close())
		}
	})
}

func TestLongTextIsBounded(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		long := strings.Repeat("🚢", 300_000)
		ctx := audit.With(t.Context(), audit.By{Person: long, Reason: long + "\xff", Host: long, Program: long, Command: long})
		r.Must(r.log.Record(ctx, r.App, audit.Entry{Kind: audit.Schedule, ID: strings.Repeat("🚢", 400), Verb: audit.Create, Before: audit.Bounded([]byte(long)), After: long}))
		e := r.list(audit.Filter{})[0]
		if e.Person != strings.Repeat("🚢", 128) || e.Reason != strings.Repeat("🚢", 1000) ||
			!strings.HasPrefix(string(e.Before), `{"bytes":1200000,"sha256":"`) ||
			!strings.HasPrefix(string(e.After), `{"bytes":1200002,"sha256":"`) {
			t.Errorf("%.200s", fmt.Sprintf("%+v", e))
		}
	})
}

func TestWhatIsNoEntryIsRefused(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		for name, e := range map[string]audit.Entry{
			"no kind":         {ID: "a", Verb: "create"},
			"no id":           {Kind: audit.Schedule, Verb: "create"},
			"a long id":       {Kind: audit.Schedule, ID: strings.Repeat("x", 401), Verb: "create"},
			"an id of bytes":  {Kind: audit.Schedule, ID: "\xff", Verb: "create"},
			"no verb":         {Kind: audit.Schedule, ID: "a"},
			"a long verb":     {Kind: audit.Schedule, ID: "a", Verb: strings.Repeat("v", 33)},
			"what is no JSON": {Kind: audit.Schedule, ID: "a", Verb: "create", After: func() {}},
		} {
			if err := r.log.Record(t.Context(), r.App, entry("good", audit.Create), e); !errors.Is(err, prescient.ErrInvalid) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if found := r.list(audit.Filter{Kind: audit.Schedule}); len(found) > 0 {
			t.Errorf("%q", told(found))
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if err := r.log.Record(ctx, r.App, entry("a", audit.Create)); !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

func TestListFindsByEachFilterAndGoesOnByTheCursor(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		for i := range 30 {
			person := []string{"Ada", "Bob", ""}[i%3]
			r.Must(r.log.Record(audit.With(t.Context(), audit.By{Person: person}), r.AppAt(rig.At(fmt.Sprintf("13:%02d", i/2))),
				audit.Entry{Kind: []audit.Kind{audit.Schedule, audit.Check}[i%2], ID: fmt.Sprint(i), Verb: []string{audit.Pause, audit.Resume}[i/15]}))
		}
		until := rig.At("14:00")
		for name, test := range map[string]struct {
			filter audit.Filter
			want   int
		}{
			"all":             {audit.Filter{}, 30},
			"a kind":          {audit.Filter{Kind: audit.Check}, 15},
			"a person":        {audit.Filter{Person: "Ada"}, 10},
			"a verb":          {audit.Filter{Verb: audit.Pause}, 15},
			"an account":      {audit.Filter{Account: r.User("app-reschedule")}, 30},
			"another account": {audit.Filter{Account: r.User("app-reschedule") + "@nowhere"}, 0},
			"since":           {audit.Filter{Since: rig.At("13:10")}, 10},
			"until":           {audit.Filter{Until: rig.At("13:10")}, 20},
			"several":         {audit.Filter{Kind: audit.Schedule, Person: "Bob", Since: rig.At("13:05")}, 4},
			"an id":           {audit.Filter{ID: "4"}, 1},
			"a wrong kind":    {audit.Filter{ID: "4", Kind: audit.Job}, 0},
		} {
			f := test.filter
			if f.Until.IsZero() {
				f.Until = until // not what the migration wrote
			}
			whole := told(r.list(f))
			if len(whole) != test.want {
				t.Errorf("%s: %q; want %d", name, whole, test.want)
			}
			f.Limit = 4
			var pages []audit.Stored
			for {
				page := r.list(f)
				pages = append(pages, page...)
				if len(page) < f.Limit {
					break
				}
				f.After = page[len(page)-1].Cursor()
			}
			same(t, name+", by pages", told(pages), whole)
		}
		var early *audit.SearchedError
		f := audit.Filter{Person: "nobody", Until: until, Search: 7}
		for looked := 0; ; looked += early.Looked {
			found, err := r.log.List(t.Context(), r.As("operator", time.Time{}), f)
			if err == nil && len(found) == 0 && looked == 28 {
				break
			}
			if !errors.As(err, &early) || early.Looked != 7 || looked > 28 {
				t.Fatalf("after %d: %q, %v", looked, told(found), err)
			}
			f.After = early.After
		}
		for _, f := range []audit.Filter{{Limit: -1}, {Limit: audit.MaxPage + 1}, {After: "x"}, {After: "2026-11-20 13:00:00.000000/00"},
			{ID: "\xff"}, {Person: "\xff"}, {Account: "\xff"}, {Verb: "\xff"}} {
			if _, err := r.log.List(t.Context(), r.App, f); !errors.Is(err, prescient.ErrInvalid) {
				t.Errorf("%+v: %v", f, err)
			}
		}
	})
}
