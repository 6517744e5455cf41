package rulebook_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/rule"
	"prescient/prescient/rulebook"
	"prescient/prescient/worker"
)

// call is one of a job_exec.
type call struct {
	key    string
	at     time.Time
	due    time.Time
	asked  time.Time // when the occasion was
	number uint32    // the version
}

// While apps report occasions, some of them in transactions that stay open, and somebody changes the rule again and again, no check is lost, called twice, or
// called before the time that a version gave it which stood when it was called or a moment before.
func TestNoCheckIsLostOrEarlyWhileTheRuleChanges(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := whole.New(t, d, time.Second)
		ctx := t.Context()
		db := r.As("serve-operator", time.Time{})
		book := rulebook.New(r.Client)
		delays := []time.Duration{4 * time.Second, 9 * time.Second, 3 * time.Second, 7 * time.Second}
		is := rule.Rule{Name: "remind", Occasion: "placed", JobExec: "check", Spread: 2 * time.Second}
		var changes []time.Time // when each version began to stand, by this machine, at the earliest
		change := func(delay time.Duration) {
			is.Delay = delay
			began := time.Now()
			_, _, err := book.Put(ctx, db, is, 0, rule.Move)
			r.Must(err)
			changes = append(changes, began)
			r.Must(book.Work(ctx, db, "walker"))
		}
		change(delays[0])
		r.Exec("UPDATE p_rule SET since = '2020-01-01'")

		var mu sync.Mutex
		var calls []call
		registry := prescient.NewRegistry()
		r.Must(registry.RegisterBatch("check", func(_ context.Context, b *prescient.Batch) error {
			now := time.Now()
			mu.Lock()
			defer mu.Unlock()
			for i, job := range b.Jobs() {
				calls = append(calls, call{job.EntityKey, now, job.DueAt, *job.OccasionAt, job.RuleVersion})
				b.Settle(i)
			}
			return nil
		}, prescient.Guards{}))
		working, stop := context.WithCancel(ctx)
		var works sync.WaitGroup
		w := r.Worker(time.Time{}, registry, worker.Options{Sweep: worker.Sweep{Every: time.Second, Grace: time.Second}})
		works.Go(func() {
			if err := w.Work(working); err != nil && working.Err() == nil {
				t.Error(err)
			}
		})

		var apps sync.WaitGroup
		reporting := time.Now().Add(14 * time.Second)
		inserted := make([]int, 4)
		procedures := r.Setting != "plain" && !r.Server.Placed()
		byClient, bySQL := r.AppAs("app", time.Time{}), r.AppAs("app-sql", time.Time{})
		for app := range inserted {
			apps.Go(func() {
				byCall, pool := procedures && app >= 2, byClient
				c, err := client.New(ctx, pool, client.Options{Prefix: "p_", Dialect: r.Setting})
				if byCall {
					pool = bySQL
				}
				if err != nil {
					t.Error(err)
					return
				}
				for n := 0; time.Now().Before(reporting); n++ {
					level, open := sql.LevelReadCommitted, time.Duration(0)
					if app%2 == 1 {
						level = sql.LevelRepeatableRead
					}
					if n%40 == 39 { // one that stays open
						open = 1500 * time.Millisecond
					}
					err := report(ctx, pool, c, level, open, byCall, rig.Order(fmt.Sprintf("%d-%d", app, n)))
					if client.BeginAgain(err) {
						continue
					}
					if err != nil {
						t.Error(err)
						return
					}
					inserted[app]++
					time.Sleep(5 * time.Millisecond)
				}
			})
		}
		for _, delay := range delays[1:] {
			change(delay)
		}
		apps.Wait()
		all := 0
		for _, n := range inserted {
			all += n
		}
		r.Eventually("all are called", func() bool { return r.Count("SELECT COUNT(*) FROM p_future_job") == 0 })
		stop()
		works.Wait()
		if ended := r.Count("SELECT COUNT(*) FROM p_job_history WHERE outcome = 'done'"); ended != all || all < 200 {
			t.Errorf("%d ended of %d", ended, all)
		}
		seen := make(map[string]bool, len(calls))
		byVersion := make(map[uint32]int)
		for _, c := range calls {
			byVersion[c.number]++
			if seen[c.key] {
				t.Errorf("%s was called twice", c.key)
			}
			seen[c.key] = true
			// The versions that stood within the last two seconds, in which a slot run has read the rules.
			early := true
			for i, from := range changes {
				over := i+1 < len(changes) && changes[i+1].Before(c.at.Add(-2*time.Second))
				says := is
				if says.Delay = delays[i]; !over && !from.After(c.at) && !c.at.Before(says.Due(rig.Order(c.key), c.asked)) {
					early = false
				}
			}
			if early {
				t.Errorf("%s of %s was called at %s, by version %d", c.key, c.asked, c.at, c.number)
			}
		}
		if len(calls) != all {
			t.Errorf("%d calls of %d", len(calls), all)
		}
		t.Logf("%d checks, by version %v, changes %d", all, byVersion, len(changes))
	})
}

// report reports an occasion in a transaction, which stays open for a while.
func report(ctx context.Context, pool *sql.DB, c *client.Client, level sql.IsolationLevel, open time.Duration, call bool, e prescient.Entity) error {
	tx, err := pool.BeginTx(ctx, &sql.TxOptions{Isolation: level})
	if err != nil {
		return err
	}
	defer tx.Rollback() // after a commit it does nothing
	var at string
	if err := tx.QueryRowContext(ctx, "SELECT CAST(UTC_TIMESTAMP(6) AS CHAR) FROM (SELECT COUNT(*) AS n FROM p_schedule) one").Scan(&at); err != nil {
		return err
	}
	when, err := time.Parse("2006-01-02 15:04:05.999999", at)
	if err != nil {
		return err
	}
	if open > 0 {
		time.Sleep(open)
	}
	if call {
		var made, kept, ended int
		err = tx.QueryRowContext(ctx, "CALL p_happened('placed', ?, ?, ?, NULL)", e.Name, e.Key, strings.TrimSpace(at)).Scan(&made, &kept, &ended)
	} else {
		_, err = c.Happened(ctx, tx, "placed", e, when, nil)
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}
