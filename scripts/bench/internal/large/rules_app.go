package large

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"

	"prescient/scripts/bench/internal/rig"
)

// callsOfRules is what was called.
type callsOfRules struct {
	mu      sync.Mutex
	times   map[int]bool // by the numbers of the checks
	changes time.Time    // when the rules changed
	before  int          // how many were called before that
	early   int
	twice   int
}

func (c *callsOfRules) change(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.changes = at
}

// take is the job_exec of both rules: it notes what is called, and looks whether that is early.
func (c *callsOfRules) take(_ context.Context, b *prescient.Batch) error {
	now := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	for i, job := range b.Jobs() {
		number, err := strconv.Atoi(job.EntityKey)
		if err != nil || job.OccasionAt == nil {
			return fmt.Errorf("check %s: %w", job.EntityKey, err)
		}
		delay := oldDelay
		switch changed := !c.changes.IsZero() && now.After(c.changes); {
		case !changed:
			c.before++
		case job.JobExec == hurry: // made shorter
			delay = shorter
		case now.After(c.changes.Add(rulesTold)):
			delay = longer
		}
		if now.Before(job.OccasionAt.Add(delay)) {
			c.early++
		}
		if c.times[number] {
			c.twice++
		}
		c.times[number] = true
		b.Settle(i)
	}
	return nil
}

// rulesApp is what an app does beside: on one connection it reports occasions, by turns in Go and by CALL, on another it cancels and moves checks and
// updates orders.
type rulesApp struct {
	place  *rig.Place
	client *client.Client
	rows   int

	next     int // the number of the next occasion
	reported int
	taken    int // checks that it cancelled or moved
}

// appRests is how long the app waits between its transactions: else what it reports would outgrow what was filled.
const appRests = 5 * time.Millisecond

// during returns how many milliseconds each of the app's transactions took while do ran.
func (a *rulesApp) during(ctx context.Context, do func() error) (map[string][]float64, error) {
	took := make(map[string][]float64)
	over := make(chan struct{})
	var mu sync.Mutex
	var failed error
	var both sync.WaitGroup
	for _, turns := range [][]string{{"Happened", "CALL"}, {"cancel", "move", "update"}} {
		both.Go(func() {
			db, err := sql.Open("mysql", a.place.DSN(a.place.Name))
			if err == nil {
				defer db.Close()
			}
			ms := make(map[string][]float64)
			for i := 0; err == nil; i++ {
				select {
				case <-over:
					mu.Lock()
					defer mu.Unlock()
					for what, list := range ms {
						took[what] = list
					}
					return
				default:
				}
				what := turns[i%len(turns)]
				began := time.Now()
				if err = a.one(ctx, db, what); client.BeginAgain(err) {
					err = nil
				}
				ms[what] = append(ms[what], time.Since(began).Seconds()*1000)
				time.Sleep(appRests)
			}
			mu.Lock()
			defer mu.Unlock()
			failed = errors.Join(failed, err)
		})
	}
	err := do()
	close(over)
	both.Wait()
	return took, errors.Join(err, failed)
}

// one is one transaction of the app.
func (a *rulesApp) one(ctx context.Context, db *sql.DB, what string) error {
	some := strconv.Itoa(rand.IntN(a.rows))
	of := prescient.Entity{Name: "order", Key: some}
	exec := remind
	if some[len(some)-1] == '0' || some[len(some)-1] == '5' {
		exec = hurry
	}
	switch what {
	case "Happened", "CALL":
		a.next++
		occasion := "placed"
		if a.next%10 < 2 {
			occasion = "paid"
		}
		of.Key = strconv.Itoa(a.next)
		return a.report(ctx, db, what, occasion, of)
	case "cancel":
		n, err := a.client.Cancel(ctx, db, of, exec)
		a.taken += n
		return err
	case "move":
		_, err := a.client.Reschedule(ctx, db, of, exec, "rule:"+exec, time.Now().Add(appMoves))
		if err == nil {
			a.taken++
		}
		if errors.Is(err, prescient.ErrNotFound) { // it was called or cancelled before
			err = nil
		}
		return err
	}
	_, err := db.ExecContext(ctx, "UPDATE orders SET shipped_at = UTC_TIMESTAMP(6) WHERE id = ?", rand.IntN(min(a.rows, 100_000)))
	return err
}

// report reports an occasion of which one rule makes a check.
func (a *rulesApp) report(ctx context.Context, db *sql.DB, how, occasion string, of prescient.Entity) error {
	made := 0
	if how == "CALL" {
		var kept, ended int
		if err := db.QueryRowContext(ctx, "CALL happened(?, ?, ?, UTC_TIMESTAMP(6), NULL)", occasion, of.Name, of.Key).Scan(&made, &kept, &ended); err != nil {
			return err
		}
	} else {
		did, err := a.client.Happened(ctx, db, occasion, of, time.Now(), nil)
		if err != nil {
			return err
		}
		made = len(did.Checks)
	}
	if made != 1 {
		return fmt.Errorf("%d checks were made of occasion %s", made, occasion)
	}
	a.reported++
	return nil
}
