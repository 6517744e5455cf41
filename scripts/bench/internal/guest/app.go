package guest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

	"prescient/prescient"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

// app is what an app does beside a slot run. On each of two connections it sends one transaction after the other, without a
// pause.
type app struct {
	plain, cancel []sent
	cancelled     int // checks that it cancelled

	over chan struct{}
	all  *errgroup.Group
}

// sent is one of its transactions.
type sent struct {
	at   time.Time
	took time.Duration
}

// startApp has it begin at a time.
func startApp(ctx context.Context, st *rig.Stage, begins time.Time) (*app, error) {
	a := &app{over: make(chan struct{})}
	return a, a.start(ctx, st, begins, a.updates, a.cancels)
}

// start has some of it begin at a time, each on a connection of its own.
func (a *app) start(ctx context.Context, st *rig.Stage, begins time.Time, each ...func(context.Context, *rig.Stage, *sql.DB) error) error {
	a.all, ctx = errgroup.WithContext(ctx)
	for _, do := range each {
		db, err := sql.Open("mysql", st.DSN(st.Name))
		if err != nil {
			return err
		}
		db.SetMaxOpenConns(1)
		a.all.Go(func() error {
			defer db.Close()
			if err := rig.Pause(ctx, time.Until(begins)); err != nil {
				return err
			}
			return do(ctx, st, db)
		})
	}
	return nil
}

// updates are the plain ones.
func (a *app) updates(ctx context.Context, st *rig.Stage, db *sql.DB) error {
	update, err := db.PrepareContext(ctx, "UPDATE orders SET shipped_at = UTC_TIMESTAMP(6) WHERE id = ?")
	if err != nil {
		return err
	}
	defer update.Close()
	for !a.isOver() {
		began := time.Now()
		if _, err := update.ExecContext(ctx, rand.IntN(st.Due)); err != nil {
			return fmt.Errorf("updating an order: %w", err)
		}
		a.plain = append(a.plain, sent{began, time.Since(began)})
	}
	return nil
}

// cancels takes the slot's checks in no order. A cancel of one that has ended waits for nothing, so the app first looks
// whether it is pending, which is not measured.
func (a *app) cancels(ctx context.Context, st *rig.Stage, db *sql.DB) error {
	for _, id := range rand.Perm(st.Due) {
		order := prescient.Entity{Name: "order", Key: strconv.Itoa(id)}
		if a.isOver() {
			break
		}
		if _, err := st.Client.Get(ctx, db, order, rig.DueExec, ""); errors.Is(err, prescient.ErrNotFound) {
			continue
		} else if err != nil {
			return fmt.Errorf("looking for a check: %w", err)
		}
		began := time.Now()
		n, err := st.Client.Cancel(ctx, db, order, rig.DueExec)
		if err != nil {
			return fmt.Errorf("cancelling a check: %w", err)
		}
		a.cancel = append(a.cancel, sent{began, time.Since(began)})
		a.cancelled += n
	}
	return nil
}

func (a *app) isOver() bool {
	select {
	case <-a.over:
		return true
	default:
		return false
	}
}

// stop ends it after what is under way.
func (a *app) stop() error {
	close(a.over)
	return a.all.Wait()
}

// felt adds the figures of what it sent between two times.
func (a *app) felt(from, to time.Time, figures map[string]float64) {
	for name, list := range map[string][]sent{page.Plain: a.plain, page.Cancel: a.cancel} {
		if len(list) == 0 {
			continue // the app sends none of these
		}
		var ms []float64
		for _, s := range list {
			if !s.at.Before(from) && s.at.Before(to) {
				ms = append(ms, s.took.Seconds()*1000)
			}
		}
		slices.Sort(ms)
		figures[page.P99(name)], figures[name+" ms p50"], figures[name+" ms max"] = page.Percentile(ms, 99), page.Percentile(ms, 50), page.Percentile(ms, 100)
		figures[name+" n"] = float64(len(ms))
	}
}
