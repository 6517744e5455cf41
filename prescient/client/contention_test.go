package client

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
)

// tally counts what operations ended with.
type tally struct {
	mu                  sync.Mutex
	done, inserted      int
	deadlocks, timeouts int
	changed             int // refused a row that was changed after the snapshot
	unexpected          error
}

func (c *tally) add(inserted int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case err == nil:
		c.done++
		c.inserted += inserted
	case errors.Is(err, prescient.ErrPending), errors.Is(err, prescient.ErrNotFound):
		c.done++
	case errno.Is(err, errno.Deadlock):
		c.deadlocks++
	case errno.Is(err, errno.LockWaitTimeout):
		c.timeouts++
	case errno.Is(err, errno.CheckRead):
		c.changed++
	default:
		c.unexpected = errors.Join(c.unexpected, err)
	}
}

func (c *tally) String() string {
	return fmt.Sprintf("%d done, %d deadlocks, %d lock wait timeouts, %d changed rows", c.done, c.deadlocks, c.timeouts, c.changed)
}

// operation is one of a client's; it returns how many rows it inserted.
type operation func(db prescient.DB) (inserted int, err error)

// fight lets eight apps insert, cancel and move the jobs that pick gives them, while rows are taken away and moved as
// slot runs do it, in two buckets: in READ COMMITTED transactions, by primary key.
func (r *testRig) fight(length time.Duration, pick func(app int) prescient.NewJob, way func(do operation) (int, error)) (apps, runs *tally) {
	ctx, cancel := context.WithTimeout(r.T.Context(), length)
	defer cancel()
	apps, runs = new(tally), new(tally)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for ctx.Err() == nil {
				apps.add(way(r.someOperation(pick(i))))
			}
		})
	}
	pool := r.Pool(time.Time{})
	for _, bucket := range []string{"X'00' AND X'7fffffffffffffffffffffffffffffff'", "X'80' AND X'ffffffffffffffffffffffffffffffff'"} {
		wg.Go(func() {
			for ctx.Err() == nil {
				runs.add(0, r.likeASlotRun(pool.DB, bucket))
			}
		})
	}
	wg.Wait()
	return apps, runs
}

// someOperation is one of those of a client, on a job.
func (r *testRig) someOperation(job prescient.NewJob) operation {
	ctx := context.WithoutCancel(r.T.Context())
	job.DueAt = time.Now().Add(time.Duration(rand.N(8)) * r.client.Resolution())
	count := func(did Inserted, err error) (int, error) {
		if did.Did == DidInsert {
			return 1, err
		}
		return 0, err
	}
	switch n := rand.N(10); n {
	case 0, 1, 2, 3, 4:
		job.OnPending = []prescient.OnPending{prescient.Keep, prescient.Replace, prescient.Earlier, prescient.Later, prescient.OnPendingError}[n]
		return func(db prescient.DB) (int, error) { return count(r.client.Insert(ctx, db, job)) }
	case 5:
		return func(db prescient.DB) (int, error) {
			return count(r.client.Reschedule(ctx, db, job.Entity, job.JobExec, "", job.DueAt))
		}
	case 6:
		return func(db prescient.DB) (int, error) {
			did, err := r.client.InsertMany(ctx, db, []prescient.NewJob{job})
			if err != nil {
				return 0, err
			}
			return count(did[0], nil)
		}
	case 7:
		return func(db prescient.DB) (int, error) {
			_, err := r.client.Cancel(ctx, db, job.Entity, job.JobExec)
			return 0, err
		}
	default:
		return func(db prescient.DB) (int, error) {
			_, err := r.client.Cancel(ctx, db, job.Entity)
			return 0, err
		}
	}
}

// likeASlotRun takes the rows of one slot, moves some of them and ends the others.
func (r *testRig) likeASlotRun(pool *sql.DB, bucket string) error {
	ctx := context.WithoutCancel(r.T.Context())
	var slots []time.Time
	rows, err := pool.QueryContext(ctx, "SELECT DISTINCT next_check_at FROM p_future_job WHERE entity_name = 'order' ORDER BY next_check_at")
	if err != nil {
		return err
	}
	for rows.Next() {
		var slot time.Time
		if err := rows.Scan(&slot); err != nil {
			return err
		}
		slots = append(slots, slot)
	}
	if err := rows.Err(); err != nil || len(slots) == 0 {
		return err
	}
	slot := slots[rand.N(len(slots))]
	read, err := r.client.find(ctx, pool, rowtext.Columns, "job.next_check_at = "+literal.Of(literal.AppendSecond, slot)+" AND job.job_key BETWEEN "+bucket+" AND job.entity_name = 'order'", false)
	if err != nil || len(read) == 0 {
		return err
	}
	var moves [][]any
	var ends []prescient.FutureJob
	for _, job := range read {
		if rand.N(2) == 0 {
			later := slot.Add(time.Duration(1+rand.N(4)) * r.client.Resolution())
			moves = append(moves, []any{job.Key().String(), job.Revision, later.Format(literal.SecondLayout), later.Format(literal.MicroLayout), 1, 0, 0, 1, nil})
		} else {
			ends = append(ends, job)
		}
	}
	tx, err := pool.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := r.writeLikeASlotRun(ctx, tx, slot, read, moves, ends); err != nil {
		return errors.Join(err, store.Rollback(tx))
	}
	return tx.Commit()
}

// writeLikeASlotRun locks all the rows first, in the order of their keys.
func (r *testRig) writeLikeASlotRun(ctx context.Context, tx *sql.Tx, slot time.Time, read []prescient.FutureJob, moves [][]any, ends []prescient.FutureJob) error {
	revisions := make(map[prescient.Key]uint64)
	lock := strings.NewReplacer(" SKIP LOCKED", "", " NOWAIT", "").Replace(r.client.tables.Fill("slotrun/lock_free", "{keys}", literal.Keys(read, prescient.FutureJob.Key)))
	rows, err := tx.QueryContext(ctx, lock, slot)
	if err != nil {
		return err
	}
	for rows.Next() {
		var key []byte
		var revision uint64
		if err := rows.Scan(&key, &revision); err != nil {
			return err
		}
		revisions[prescient.Key(key)] = revision
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if len(moves) > 0 {
		list, err := json.Marshal(moves)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, r.client.tables.Stmt.Get("slotrun/reschedule"), string(list), slot); err != nil {
			return err
		}
	}
	var same []prescient.FutureJob
	var history []byte
	for _, job := range ends {
		if revisions[job.Key()] != job.Revision {
			continue
		}
		if len(same) > 0 {
			history = append(history, ',')
		}
		same = append(same, job)
		history = store.AppendEnd(history, store.End{Job: job, Key: job.Key(), Outcome: prescient.Done, Worker: "test"})
	}
	if len(same) == 0 {
		return nil
	}
	if _, err := tx.ExecContext(ctx, r.client.tables.Fill("slotrun/history_insert", "{rows}", string(history))); err != nil {
		return err
	}
	n, err := store.Affected(ctx, tx, r.client.tables.Fill("slotrun/end", "{keys}", literal.Keys(same, prescient.FutureJob.Key)), slot)
	if err == nil && n != len(same) {
		err = fmt.Errorf("deleted %d rows; want %d", n, len(same))
	}
	return err
}

// inTx is the way of an app that does each operation in a transaction.
func (r *testRig) inTx(level sql.IsolationLevel) func(do operation) (int, error) {
	return func(do operation) (inserted int, err error) {
		tx, err := r.App.BeginTx(context.WithoutCancel(r.T.Context()), &sql.TxOptions{Isolation: level})
		if err != nil {
			return 0, err
		}
		if inserted, err = do(tx); err != nil {
			return 0, errors.Join(err, store.Rollback(tx))
		}
		return inserted, tx.Commit()
	}
}

// balancedFight fails where an app saw an error that it should not, or where rows were lost on the way.
func (r *testRig) balancedFight(name string, apps, runs *tally, others int) {
	r.T.Helper()
	r.T.Logf("%s: apps: %s; slot runs: %s", name, apps, runs)
	if err := errors.Join(apps.unexpected, runs.unexpected); err != nil || apps.timeouts+runs.timeouts > 0 {
		r.T.Errorf("%s: %v; apps: %s; slot runs: %s", name, err, apps, runs)
	}
	if runs.changed > 0 || apps.changed > 0 && (name != "REPEATABLE READ" || !r.Refuses(r.App)) {
		r.T.Errorf("%s: refused changed rows: apps: %s; slot runs: %s", name, apps, runs)
	}
	pending, ended := r.Count(rig.CountPending)-others, r.Count(rig.CountEnded)
	if apps.inserted != pending+ended {
		r.T.Errorf("%s: %d inserted, but %d pending and %d ended", name, apps.inserted, pending, ended)
	}
}

// InnoDB locks the gap beside a job_key that was deleted a moment ago, whatever the isolation level, so that writers of
// the same few jobs do deadlock now and then. On a handle that is no transaction the client sees to that; in the
// caller's transaction the caller begins again. Nothing is lost and nothing is left twice.
func TestAppsAndSlotRunsThatMeetOnAFewJobsLoseNothing(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Minute, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.JSONTable)
		pick := func(int) prescient.NewJob {
			return prescient.NewJob{Entity: rig.Order(fmt.Sprint(rand.N(4))), JobExec: []string{"ship", "pay", "ask"}[rand.N(3)]}
		}
		for _, way := range []struct {
			name string
			way  func(do operation) (int, error)
		}{
			{"autocommit", func(do operation) (int, error) { return do(r.App) }},
			{"READ COMMITTED", r.inTx(sql.LevelReadCommitted)},
			{"REPEATABLE READ", r.inTx(sql.LevelRepeatableRead)},
		} {
			r.Clear()
			apps, runs := r.fight(500*time.Millisecond, pick, way.way)
			r.balancedFight(way.name, apps, runs, 0)
			if apps.deadlocks > 0 && way.name == "autocommit" {
				t.Errorf("%s: the client gave up on %d deadlocks", way.name, apps.deadlocks)
			}
		}
	})
}

// The order of the locks is what matters here: the row by its primary key first, then its job_key. Only the second look
// that the caller's transaction needs goes the other way; it may fall victim to a slot run, once in thousands.
func TestAnAppAndASlotRunDoNotDeadlockOverAJob(t *testing.T) {
	t.Parallel()
	eachServerAt(t, time.Minute, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.JSONTable)
		pick := func(app int) prescient.NewJob {
			return prescient.NewJob{Entity: rig.Order(fmt.Sprint(app)), JobExec: "ship"}
		}
		others := make([]prescient.NewJob, 2000) // so that the jobs are not each other's neighbours
		for i := range others {
			others[i] = prescient.NewJob{Entity: prescient.Entity{Name: "other", Key: fmt.Sprint(i)}, JobExec: "wait", DueAt: time.Now().Add(time.Duration(i%8) * time.Minute)}
		}
		for _, way := range []struct {
			name string
			way  func(do operation) (int, error)
		}{
			{"autocommit", func(do operation) (int, error) { return do(r.App) }},
			{"READ COMMITTED", r.inTx(sql.LevelReadCommitted)},
			{"REPEATABLE READ", r.inTx(sql.LevelRepeatableRead)},
		} {
			r.Clear()
			_, err := r.client.InsertMany(t.Context(), r.App, others)
			r.Must(err)
			apps, runs := r.fight(500*time.Millisecond, pick, way.way)
			r.balancedFight(way.name, apps, runs, len(others))
			// Of fewer than a hundred, which is what a slow machine does, one is not too many.
			if n := apps.deadlocks + runs.deadlocks; n > 0 && way.name == "autocommit" || n*100 > max(apps.done, 100) {
				t.Errorf("%s: apps: %s; slot runs: %s", way.name, apps, runs)
			}
		}
	})
}
