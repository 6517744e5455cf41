package large

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/bulk"
	"prescient/prescient/client"
	"prescient/prescient/connect"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

// Bulk is the section of deeds in bulk.
var Bulk = rig.Section{
	Name: "bulk",
	About: "one deed cancels a sixth of 30 million pending checks, beside 50 million ended, while an app inserts checks on one connection and updates orders on another, without a pause; " +
		"the process that works it off dies after a fifth, and another takes over; nothing is cancelled that did not match, or came after the preview",
	Run: func(ctx context.Context, b *rig.Bench, s *rig.Server) error { return measureBulk(ctx, b, s) },
}

func measureBulk(ctx context.Context, b *rig.Bench, s *rig.Server) error {
	p, ended, err := filled(ctx, b, s)
	if err != nil {
		return err
	}
	defer p.Drop(ctx) // it is not what it was
	pending := pendingOf(ended)
	for _, query := range []string{"CREATE TABLE orders (id INT PRIMARY KEY, shipped_at DATETIME(6) NULL)",
		fmt.Sprintf("INSERT INTO orders (id) SELECT n FROM bench_n WHERE n < %d", min(rig.Numbers, 100_000))} {
		if _, err := p.Exec(ctx, query); err != nil {
			return err
		}
	}
	c, err := client.New(ctx, p.App, client.Options{})
	if err != nil {
		return err
	}
	db, err := connect.Open(p.DSN(p.Name), 0)
	if err != nil {
		return err
	}
	defer db.Close()
	all := bulk.New(c)
	a := &bulkApp{place: p, client: c}
	quiet, err := a.during(ctx, func() error { return rig.Pause(ctx, 15*time.Second) })
	if err != nil {
		return err
	}
	before := time.Now().UTC().Add(15 * 24 * time.Hour)
	began := time.Now()
	preview, err := all.Preview(ctx, db, bulk.Asked{Deed: bulk.Cancel, Filter: bulk.Filter{JobExec: "invoice-unpaid", Before: &before}}, bulk.By{Person: "bench"})
	if err != nil {
		return err
	}
	previewed := time.Since(began)
	if err := all.Start(ctx, db, preview.Number, preview.Token); err != nil {
		return err
	}
	var died, tookOver, over time.Time
	busy, err := a.during(ctx, func() (err error) {
		if died, err = dieAfter(ctx, p, all, preview.Number, pending/30); err != nil {
			return err
		}
		for {
			done, err := all.WorkOn(ctx, db, preview.Number, "second", func(bulk.Run) {
				if tookOver.IsZero() {
					tookOver = time.Now()
				}
			})
			if err != nil || done {
				over = time.Now()
				return err
			}
			if err := rig.Pause(ctx, time.Second); err != nil { // the lease of the dead one
				return err
			}
		}
	})
	if err != nil {
		return err
	}
	run, err := all.Get(ctx, db, preview.Number)
	if err != nil {
		return err
	}
	if err := checkBulk(ctx, db, run, before); err != nil {
		return err
	}
	rate := float64(run.Done) / (over.Sub(began) - tookOver.Sub(died)).Seconds()
	figures := map[string]float64{"done": float64(run.Done), "rows/s": rate, "preview ms": previewed.Seconds() * 1000, "count": float64(preview.Count), "taken over after s": tookOver.Sub(died).Seconds()}
	for name, lists := range map[string]map[string][]float64{"quiet": quiet, "busy": busy} {
		for what, ms := range lists {
			slices.Sort(ms)
			figures[name+" "+what+" p50"], figures[name+" "+what+" p99"], figures[name+" "+what+" n"] = page.Percentile(ms, 50), page.Percentile(ms, 99), float64(len(ms))
		}
	}
	b.Say("  %d of %d cancelled, %.0f a second; preview %v, taken over after %v; update p50, p99: %.1f, %.1f quiet, %.1f, %.1f beside; insert %.1f, %.1f quiet, %.1f, %.1f beside",
		run.Done, pending, rate, previewed.Round(time.Millisecond), tookOver.Sub(died).Round(time.Second),
		figures["quiet update p50"], figures["quiet update p99"], figures["busy update p50"], figures["busy update p99"],
		figures["quiet insert p50"], figures["quiet insert p99"], figures["busy insert p50"], figures["busy insert p99"])
	return b.Book.Add(page.Record{Case: "cancel", Rows: pending, Figures: figures})
}

// dieAfter works a deed off until so much is done, and then is gone as a process that was killed: its connections are cut, and its lease stays.
func dieAfter(ctx context.Context, p *rig.Place, all *bulk.Bulk, number uint64, done int) (died time.Time, err error) {
	db, err := connect.Open(p.DSN(p.Name), 0)
	if err != nil {
		return died, err
	}
	_, err = all.WorkOn(ctx, db, number, "first", func(run bulk.Run) {
		if run.Done >= uint64(done) && died.IsZero() {
			died = time.Now()
			_ = db.Close()
		}
	})
	if died.IsZero() {
		return died, errors.Join(errors.New("it was over before it could die"), err)
	}
	return died, nil
}

// bulkApp is what an app does beside a deed: it inserts checks that match, and updates orders.
type bulkApp struct {
	place  *rig.Place
	client *client.Client
	n      int
}

// during returns how many milliseconds each of the app's transactions took while do ran.
func (a *bulkApp) during(ctx context.Context, do func() error) (map[string][]float64, error) {
	took := map[string][]float64{"insert": nil, "update": nil}
	over := make(chan struct{})
	var mu sync.Mutex
	var failed error
	var both sync.WaitGroup
	for what, one := range map[string]func(db *sql.DB) error{
		"insert": func(db *sql.DB) error {
			a.n++
			_, err := a.client.Insert(ctx, db, prescient.NewJob{Entity: prescient.Entity{Name: "invoice", Key: fmt.Sprint("new-", a.n)}, JobExec: "invoice-unpaid",
				DueAt: time.Now().Add(time.Hour + time.Duration(rand.IntN(14*24))*time.Hour)})
			return err
		},
		"update": func(db *sql.DB) error {
			_, err := db.ExecContext(ctx, "UPDATE orders SET shipped_at = UTC_TIMESTAMP(6) WHERE id = ?", rand.IntN(100_000))
			return err
		},
	} {
		both.Go(func() {
			db, err := sql.Open("mysql", a.place.DSN(a.place.Name))
			if err == nil {
				defer db.Close()
			}
			var ms []float64
			for err == nil {
				select {
				case <-over:
					mu.Lock()
					defer mu.Unlock()
					took[what] = ms
					return
				default:
				}
				began := time.Now()
				err = one(db)
				ms = append(ms, time.Since(began).Seconds()*1000)
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

// checkBulk fails where the deed did more or less than it should have.
func checkBulk(ctx context.Context, db *sqlx.DB, run bulk.Run, before time.Time) error {
	for what, query := range map[string]string{
		"were cancelled and did not match":       "SELECT COUNT(*) FROM job_history WHERE outcome = 'cancelled' AND ended_at > {begun} AND (job_exec <> 'invoice-unpaid' OR slot >= ?)",
		"were cancelled and came later":          "SELECT COUNT(*) FROM job_history, (SELECT ? AS before_) x WHERE outcome = 'cancelled' AND ended_at > {begun} AND entity_key LIKE 'new-%' AND inserted_at > {begun}",
		"match and were not cancelled":           "SELECT COUNT(*) FROM future_job WHERE job_exec = 'invoice-unpaid' AND next_check_at < ? AND inserted_at <= {begun}",
		"were cancelled and are not in the book": "SELECT ABS((SELECT COUNT(*) FROM job_history WHERE outcome = 'cancelled' AND ended_at > {begun}) - (SELECT COUNT(*) FROM bulk_check)) + 0 * (? IS NULL)",
	} {
		var n int
		if err := db.GetContext(ctx, &n, replace(query, "{begun}", "(SELECT cutoff FROM bulk_run ORDER BY number DESC LIMIT 1)"), before); err != nil {
			return err
		}
		if n != 0 {
			return fmt.Errorf("%d %s: %+v", n, what, run)
		}
	}
	return nil
}
