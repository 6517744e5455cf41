package client

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
)

// lockRig has rows of others pending, and connections that do not wait for long. The row "mine" stands among them in the same
// slot, and "gone" is not pending.
type lockRig struct {
	*testRig
	impatient  *sqlx.DB
	mine, gone prescient.NewJob
	rows       []prescient.FutureJob // all that is pending, in the order of the keys
}

const othersPending = 200

func (r *testRig) withOthers() *lockRig {
	r.T.Helper()
	r.Clear()
	l := &lockRig{testRig: r, impatient: r.As("owner", rig.At("10:00")), // which waits for a second
		mine: lockJob("mine"), gone: lockJob("gone")}
	jobs := []prescient.NewJob{l.mine}
	for i := range othersPending {
		jobs = append(jobs, lockJob(fmt.Sprint("other", i)))
	}
	_, err := r.client.InsertMany(r.T.Context(), l.impatient, jobs)
	r.Must(err)
	r.Exec("ANALYZE TABLE p_future_job") // without figures the servers walk through the slot in place of going by the keys
	l.rows = r.rows()
	return l
}

func lockJob(key string) prescient.NewJob {
	return prescient.NewJob{Entity: rig.Order(key), JobExec: "ship", DueAt: rig.At("13:05")}
}

func keyOf(job prescient.NewJob) prescient.Key {
	return prescient.KeyOf(job.Entity, job.JobExec, job.Tag)
}

// waits says whether something has to wait for a lock, on a connection of its own.
func (l *lockRig) waits(what string, do func(tx *sql.Tx) error) bool {
	l.T.Helper()
	tx := rig.Begin(l.T, l.impatient.DB, sql.LevelReadCommitted)
	err := do(tx)
	l.Must(tx.Rollback())
	if err != nil && !errno.Is(err, errno.LockWaitTimeout) && !errors.Is(err, errHeld) {
		l.T.Errorf("%s: %v", what, err)
	}
	return err != nil
}

// inserts, cancels and ends are what others do: apps, and slot runs of the slot.
func (l *lockRig) inserts(job prescient.NewJob) func(*sql.Tx) error {
	return func(tx *sql.Tx) error {
		_, done, err := l.client.insertDirectly(l.T.Context(), tx, job, keyOf(job))
		if err == nil && !done {
			err = errors.New("it is pending")
		}
		return err
	}
}

func (l *lockRig) cancels(e prescient.Entity) func(*sql.Tx) error {
	return func(tx *sql.Tx) error {
		n, err := l.client.Cancel(l.T.Context(), tx, e)
		if err == nil && n != 1 {
			err = fmt.Errorf("cancelled %d", n)
		}
		return err
	}
}

// ends locks rows as a slot run does, which leaves those out that others have locked, and deletes them. Of rows that are nearly
// all of a slot the servers do not go by the keys, but walk through the slot.
func (l *lockRig) ends(rows ...prescient.FutureJob) func(*sql.Tx) error {
	return func(tx *sql.Tx) error { return l.end(tx, rows) }
}

func (l *lockRig) end(tx *sql.Tx, rows []prescient.FutureJob) error {
	keys := literal.Keys(rows, prescient.FutureJob.Key)
	free := 0
	locked, err := tx.QueryContext(l.T.Context(), l.client.tables.Fill("slotrun/lock_free", "{keys}", keys), rig.At("13:15"))
	if err != nil {
		return err
	}
	for locked.Next() {
		free++
	}
	if err := errors.Join(locked.Err(), locked.Close()); err != nil {
		return err
	}
	if free < len(rows) {
		return errHeld
	}
	n, err := store.Affected(l.T.Context(), tx, l.client.tables.Fill("slotrun/end", "{keys}", keys), rig.At("13:15"))
	if err == nil && n != len(rows) {
		err = fmt.Errorf("deleted %d rows of %d", n, len(rows))
	}
	return err
}

var errHeld = errors.New("somebody else has the row locked")

// row is the one that is pending for an entity.
func (l *lockRig) row(e prescient.Entity) prescient.FutureJob {
	l.T.Helper()
	i := slices.IndexFunc(l.rows, func(job prescient.FutureJob) bool { return job.Entity() == e })
	if i < 0 {
		l.T.Fatalf("%s is not pending", e)
	}
	return l.rows[i]
}

// neighbours are rows of others, ten whose keys come next before a key and ten next after it.
func (l *lockRig) neighbours(key prescient.Key) []prescient.FutureJob {
	others := slices.DeleteFunc(slices.Clone(l.rows), func(job prescient.FutureJob) bool { return job.Entity() == l.mine.Entity })
	i, _ := slices.BinarySearchFunc(others, key, func(job prescient.FutureJob, key prescient.Key) int {
		k := job.Key()
		return bytes.Compare(k[:], key[:])
	})
	i = min(max(i, 10), len(others)-10)
	return others[i-10 : i+10]
}

// beside finds checks that are not pending whose keys come next before and next after a key.
func (l *lockRig) beside(key prescient.Key) (before, after prescient.NewJob) {
	var low, high prescient.Key
	for i := range 20_000 {
		job := lockJob(fmt.Sprint("new", i))
		switch k := keyOf(job); bytes.Compare(k[:], key[:]) {
		case -1:
			if bytes.Compare(k[:], low[:]) > 0 {
				before, low = job, k
			}
		case 1:
			if high == (prescient.Key{}) || bytes.Compare(k[:], high[:]) < 0 {
				after, high = job, k
			}
		}
	}
	return before, after
}

// nobodyElseWaits fails where others wait beside an open transaction that has a row, or put one, at a key.
func (l *lockRig) nobodyElseWaits(what string, key prescient.Key) {
	l.T.Helper()
	before, after := l.beside(key)
	rows := l.neighbours(key)
	for name, do := range map[string]func(*sql.Tx) error{
		"an insert next before it":            l.inserts(before),
		"an insert next after it":             l.inserts(after),
		"an insert far from it":               l.inserts(lockJob("far")),
		"a slot run that ends its neighbours": l.ends(rows...),
		"a cancel of the row next before":     l.cancels(rows[9].Entity()),
		"a cancel of the row next after":      l.cancels(rows[10].Entity()),
	} {
		if l.waits(name, do) {
			l.T.Errorf("beside %s: %s waits", what, name)
		}
	}
}

// eachLevel runs a test in a transaction of an app at the levels that apps have.
func (r *testRig) eachLevel(test func(t *testing.T, l *lockRig, tx *sql.Tx, level string)) {
	for _, level := range []sql.IsolationLevel{sql.LevelReadCommitted, sql.LevelRepeatableRead} {
		l := r.withOthers()
		tx := rig.Begin(r.T, r.AppAt(rig.At("10:00")), level)
		test(r.T, l, tx, level.String())
		r.Must(tx.Rollback())
	}
}

func TestADirectInsertLocksNothingButItsRow(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.JSONTable)
		r.eachLevel(func(t *testing.T, l *lockRig, tx *sql.Tx, level string) {
			r.Must(l.inserts(l.gone)(tx))
			l.nobodyElseWaits("a direct insert in "+level, keyOf(l.gone))
			if !l.waits("the same insert", l.inserts(l.gone)) {
				t.Errorf("%s: another insert of the same check did not wait", level)
			}
		})
	})
}

// A pending row of the same slot is met in the primary key, another in UNIQUE (job_key), with the gap before it. What is locked there is what the slot run
// would deadlock over that has the row: that is why a client looks first for a while after that.
func TestADirectInsertThatMeetsAPendingRowLocksThatAndTheGapBeforeItsKey(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.JSONTable)
		for _, due := range []string{"13:05", "14:05"} {
			r.eachLevel(func(t *testing.T, l *lockRig, tx *sql.Tx, level string) {
				job := l.mine
				job.DueAt = rig.At(due)
				if _, done, err := l.client.insertDirectly(t.Context(), tx, job, keyOf(job)); done || err != nil {
					t.Fatalf("inserted what is pending: %v, %v", done, err)
				}
				before, after := l.beside(keyOf(l.mine))
				for _, c := range []struct {
					what string
					do   func(*sql.Tx) error
					want bool
				}{
					{"a slot run that ends it", l.ends(l.row(l.mine.Entity)), true},
					{"a cancel of it", l.cancels(l.mine.Entity), true},
					{"an insert next before it", l.inserts(before), due == "14:05"},
					{"an insert next after it", l.inserts(after), false},
					{"an insert far from it", l.inserts(lockJob("far")), false},
					{"a slot run that ends its neighbours", l.ends(l.neighbours(keyOf(l.mine))...), false},
				} {
					if got := l.waits(c.what, c.do); got != c.want {
						t.Errorf("%s, due at %s: %s waits: %v; want %v", level, due, c.what, got, c.want)
					}
				}
			})
		}
	})
}

// A cancel by statements copies the row into history, and deletes it; of what is not pending it leaves nothing locked but the
// entity's own keys.
func TestACancelLocksNothingOfOthers(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.JSONTable)
		for name, cancel := range map[string]func(l *lockRig, tx *sql.Tx) (int, error){
			"the copy and the delete alone": func(l *lockRig, tx *sql.Tx) (int, error) {
				return l.client.endFound(t.Context(), tx, []prescient.FutureJob{l.row(l.mine.Entity)}, prescient.Cancelled)
			},
			"Cancel by statements": func(l *lockRig, tx *sql.Tx) (int, error) {
				return l.client.cancelByStatements(t.Context(), tx, []prescient.Entity{l.mine.Entity}, nil)
			},
			"Cancel": func(l *lockRig, tx *sql.Tx) (int, error) {
				return l.client.Cancel(t.Context(), tx, l.mine.Entity)
			},
			"CancelMany": func(l *lockRig, tx *sql.Tx) (int, error) {
				return l.client.CancelMany(t.Context(), tx, []prescient.Entity{l.mine.Entity, l.gone.Entity})
			},
		} {
			r.eachLevel(func(t *testing.T, l *lockRig, tx *sql.Tx, level string) {
				if n, err := cancel(l, tx); n != 1 || err != nil {
					t.Fatalf("%s: cancelled %d, %v", name, n, err)
				}
				what := name + " in " + level
				l.nobodyElseWaits(what, keyOf(l.mine))
				if name == "CancelMany" {
					l.nobodyElseWaits(what+", of what is not pending", keyOf(l.gone))
				}
				if !l.waits("a slot run of it", l.ends(l.row(l.mine.Entity))) {
					t.Errorf("%s: a slot run that ends the cancelled row did not wait", what)
				}
			})
		}
	})
}

// A move locks the row. On MariaDB it also locks the entry after its own in UNIQUE (job_key), until it commits: so much for one row
// as for many.
func TestRescheduleManyLocksWhatRescheduleLocksOfEach(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.JSONTable)
		beside := func(l *lockRig) map[string]bool {
			before, after := l.beside(keyOf(l.mine))
			rows := l.neighbours(keyOf(l.mine))
			waits := make(map[string]bool)
			for name, do := range map[string]func(*sql.Tx) error{
				"an insert next before it":             l.inserts(before),
				"an insert next after it":              l.inserts(after),
				"an insert far from it":                l.inserts(lockJob("far")),
				"a slot run that ends those before it": l.ends(rows[:10]...),
				"a slot run that ends those after it":  l.ends(rows[10:]...),
				"a slot run that ends it":              l.ends(l.row(l.mine.Entity)),
				"a cancel of the row next before":      l.cancels(rows[9].Entity()),
				"a cancel of the row next after":       l.cancels(rows[10].Entity()),
			} {
				waits[name] = l.waits(name, do)
			}
			return waits
		}
		var one []map[string]bool
		r.eachLevel(func(t *testing.T, l *lockRig, tx *sql.Tx, level string) {
			_, err := l.client.Reschedule(t.Context(), tx, l.mine.Entity, l.mine.JobExec, "", rig.At("17:05"))
			r.Must(err)
			one = append(one, beside(l))
		})
		r.eachLevel(func(t *testing.T, l *lockRig, tx *sql.Tx, level string) {
			rows := l.neighbours(keyOf(l.mine))
			_, err := l.client.RescheduleMany(t.Context(), tx, []NewTime{
				{Entity: l.mine.Entity, JobExec: l.mine.JobExec, DueAt: rig.At("17:05")}, {Entity: rows[0].Entity(), JobExec: rows[0].JobExec, DueAt: rig.At("18:05")}})
			r.Must(err)
			got, want := beside(l), one[0]
			one = one[1:]
			want["a slot run that ends those before it"] = true // of which it moves one
			if fmt.Sprint(got) != fmt.Sprint(want) || !got["a slot run that ends it"] || got["an insert far from it"] {
				t.Errorf("%s: beside RescheduleMany waits %v\nbeside Reschedule %v", level, got, want)
			}
		})
	})
}
