package stage

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/worker"
)

// apps is how many there are.
const apps = 4

// app is one connection's worth of an app: what it asks for, it writes into the journal. Each has keys of its own, so
// that it knows what stands behind a key.
type app struct {
	db      *sql.DB
	client  *client.Client
	journal *checker.Journal
	load    Load
	sharded bool
	dice    *rand.Rand
	ids     int64
	known   []asked        // latest checks, which it may still change its mind about
	open    sync.WaitGroup // transactions that stay open for a while
	mu      sync.Mutex     // guards known
}

// asked is a check that was asked for.
type asked struct {
	id   int64
	key  string
	exec string
}

// ask asks for checks until ctx ends.
func (a *app) ask(ctx context.Context) {
	for ctx.Err() == nil {
		a.step()
		Pause(ctx, time.Duration(a.dice.Int64N(int64(2*apps*time.Second)/int64(a.load.Rate))))
	}
	a.open.Wait()
}

// step is one transaction of the app.
func (a *app) step() {
	switch n := a.dice.IntN(100); {
	case n < 7:
		a.change(a.cancel)
	case n < 13:
		a.change(a.move)
	case n < 19:
		a.change(a.replace)
	case n < 24:
		a.change(a.anew)
	default:
		a.insert()
	}
}

// change does something about a check that was asked for before; where it cannot tell what came of it, it leaves that
// key alone from then on.
func (a *app) change(do func(asked) (now asked, known bool)) {
	a.mu.Lock()
	if len(a.known) == 0 {
		a.mu.Unlock()
		return
	}
	at := a.dice.IntN(len(a.known))
	one := a.known[at]
	a.known = slices.Delete(a.known, at, at+1)
	a.mu.Unlock()
	if now, known := do(one); known {
		a.remember(now)
	}
}

func (a *app) remember(one asked) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.known = append(a.known, one)
	if len(a.known) > 60 {
		a.known = a.known[1:]
	}
}

// transact runs do in a transaction and says what became of it, and when it began, since the journal did.
func (a *app) transact(rollBack bool, linger time.Duration, do func(ctx context.Context, tx *sql.Tx) error) (result checker.Result, began time.Duration) {
	began = a.journal.Now()
	return a.tryTransaction(rollBack, linger, do), began
}

func (a *app) tryTransaction(rollBack bool, linger time.Duration, do func(ctx context.Context, tx *sql.Tx) error) checker.Result {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second+linger)
	defer cancel()
	tx, err := a.db.BeginTx(ctx, nil)
	if err != nil {
		return checker.RolledBack
	}
	if err := do(ctx, tx); err != nil || rollBack {
		_ = tx.Rollback() // the connection may be gone, and the transaction with it
		return checker.RolledBack
	}
	time.Sleep(linger)
	if err := tx.Commit(); err != nil {
		return checker.Unknown
	}
	return checker.Committed
}

// due is a time that one may ask for: soon, rarely over already, now and then far ahead, mostly off the grid.
func (a *app) due() time.Time {
	now := a.journal.Told()
	switch n := a.dice.IntN(100); {
	case n < 5:
		return now.Add(24 * time.Hour).Add(time.Duration(a.dice.Int64N(int64(time.Hour))))
	case n < 10:
		return now.Add(-time.Second).Truncate(time.Microsecond)
	default:
		return now.Add(time.Duration(a.dice.Int64N(int64(4 * time.Second)))).Truncate(time.Microsecond)
	}
}

// job makes a new check.
func (a *app) job() (asked, prescient.NewJob) {
	a.ids++
	one := asked{id: a.ids, key: fmt.Sprintf("k%d", a.ids), exec: a.load.pick(a.dice)}
	return one, a.newJob(one)
}

func (a *app) newJob(one asked) prescient.NewJob {
	payload, err := json.Marshal(worker.Payload{ID: one.id, N: a.dice.IntN(3)})
	if err != nil {
		panic(err) // two numbers
	}
	job := prescient.NewJob{Entity: prescient.Entity{Name: entity, Key: one.key}, JobExec: one.exec, DueAt: a.due(), Payload: payload}
	if a.dice.IntN(100) < 12 { // some expire before their slot, others while they are tried again
		job.ExpiresAfter = time.Duration(1+a.dice.Int64N(4000)) * time.Millisecond
	}
	return job
}

// note adds to the journal what became of a transaction that began at a moment.
func (a *app) note(began time.Duration, e checker.Event, one asked) {
	e.ID, e.Key, e.Exec = one.id, one.key, one.exec
	a.journal.NoteSince(began, e)
}

// insert asks for a new check: by the client or in plain SQL, and sometimes the transaction is rolled back, or commits
// only after the slot has begun.
func (a *app) insert() {
	one, job := a.job()
	plain, rollBack := a.dice.IntN(100) < 20, a.dice.IntN(100) < 8
	linger := time.Duration(0)
	if n := a.load.Linger; n > 0 && a.dice.IntN(100) < n {
		linger = time.Duration(a.dice.Int64N(int64(3 * time.Second)))
	}
	do := func() {
		result, began := a.transact(rollBack, linger, func(ctx context.Context, tx *sql.Tx) error {
			if plain {
				return insertPlain(ctx, tx, one, job, a.sharded)
			}
			_, err := a.client.Insert(ctx, tx, job)
			return err
		})
		a.note(began, checker.Event{Kind: checker.Insert, Result: result, Due: job.DueAt, Expires: job.ExpiresAfter}, one)
		if result == checker.Committed {
			a.remember(one)
		}
	}
	if linger == 0 {
		do()
		return
	}
	a.open.Go(do)
}

// insertPlain inserts as an app in another language does.
func insertPlain(ctx context.Context, tx *sql.Tx, one asked, job prescient.NewJob, sharded bool) error {
	const micros = "2006-01-02 15:04:05.000000"
	columns, values, args := "", "", []any(nil)
	if sharded { // where the row is to lie
		key := prescient.KeyOf(job.Entity, job.JobExec, job.Tag)
		columns, values, args = "job_key, ", "?, ", []any{key[:]}
	}
	expires := sql.NullString{String: job.DueAt.Add(job.ExpiresAfter).Format(micros), Valid: job.ExpiresAfter > 0}
	_, err := tx.ExecContext(ctx, "INSERT INTO "+Prefix+"future_job ("+columns+"entity_name, entity_key, job_exec, due_at, payload, expires_at) VALUES ("+values+"?, ?, ?, ?, ?, ?)",
		append(args, entity, one.key, one.exec, job.DueAt.Format(micros), string(job.Payload), expires)...)
	return err
}

func (a *app) cancel(one asked) (asked, bool) {
	n := 0
	result, began := a.transact(false, 0, func(ctx context.Context, tx *sql.Tx) (err error) {
		n, err = a.client.Cancel(ctx, tx, prescient.Entity{Name: entity, Key: one.key}, one.exec)
		return err
	})
	if result == checker.Committed && n == 0 {
		result = checker.Nothing
	}
	a.note(began, checker.Event{Kind: checker.Cancel, Result: result}, one)
	return one, result != checker.Unknown
}

func (a *app) move(one asked) (asked, bool) {
	due := a.due()
	missing := false
	result, began := a.transact(false, 0, func(ctx context.Context, tx *sql.Tx) error {
		_, err := a.client.Reschedule(ctx, tx, prescient.Entity{Name: entity, Key: one.key}, one.exec, "", due)
		if missing = errors.Is(err, prescient.ErrNotFound); missing {
			err = nil
		}
		return err
	})
	if result == checker.Committed && missing {
		result = checker.Nothing
	}
	a.note(began, checker.Event{Kind: checker.Reschedule, Result: result, Due: due}, one)
	return one, result != checker.Unknown
}

// replace puts another check in the place of one.
func (a *app) replace(old asked) (asked, bool) {
	a.ids++
	one := asked{id: a.ids, key: old.key, exec: old.exec}
	job := a.newJob(one)
	job.OnPending = prescient.Replace
	var done client.Inserted
	result, began := a.transact(a.dice.IntN(100) < 8, 0, func(ctx context.Context, tx *sql.Tx) (err error) {
		done, err = a.client.Insert(ctx, tx, job)
		return err
	})
	return a.followed(old, one, done, began, checker.Event{Kind: checker.Insert, Result: result, Due: job.DueAt, Expires: job.ExpiresAfter})
}

// anew cancels a check and asks for another under the same key, in one transaction.
func (a *app) anew(old asked) (asked, bool) {
	a.ids++
	one := asked{id: a.ids, key: old.key, exec: old.exec}
	job := a.newJob(one)
	cancelled := 0
	var done client.Inserted
	result, began := a.transact(false, 0, func(ctx context.Context, tx *sql.Tx) (err error) {
		if cancelled, err = a.client.Cancel(ctx, tx, job.Entity, job.JobExec); err != nil {
			return err
		}
		done, err = a.client.Insert(ctx, tx, job)
		return err
	})
	cancel := result
	if result == checker.Committed && cancelled == 0 {
		cancel = checker.Nothing
	}
	a.note(began, checker.Event{Kind: checker.Cancel, Result: cancel}, old)
	return a.followed(old, one, done, began, checker.Event{Kind: checker.Insert, Result: result, Due: job.DueAt, Expires: job.ExpiresAfter})
}

// followed notes an insert under a key that was in use, and says which check stands behind the key from now on.
func (a *app) followed(old, one asked, done client.Inserted, began time.Duration, e checker.Event) (asked, bool) {
	if done.Did == client.DidReplace && e.Result != checker.RolledBack {
		e.Replaced = old.id
	}
	a.note(began, e, one)
	if e.Result == checker.RolledBack {
		return old, true
	}
	return one, e.Result == checker.Committed
}
