package demo

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/rs/zerolog"

	"prescient/jobs/orders"
	"prescient/prescient/agent"
	"prescient/prescient/client"
	"prescient/prescient/forecast"
	"prescient/prescient/worker"
)

const (
	// demoLogLevel keeps the line of each slot run, one a second, out of the story.
	demoLogLevel = zerolog.WarnLevel
	// demoClerks is how many transactions the app does at a time.
	demoClerks = 8
	// demoTimeout bounds one of them.
	demoTimeout = 30 * time.Second
)

// deed is something that the app does in the demonstration.
type deed struct {
	at     time.Duration // from its start
	order  int64
	ship   bool
	cancel bool // a shipment that cancels the check, rather than leave it to find out
}

// plan draws the deeds of a demonstration, in order of time: when each order arrives, and when it is shipped if ever.
// About half are shipped in time, a quarter between the alert and the escalation, a quarter never. The same seed and
// flags draw the same.
func plan(f demoFlags) []deed {
	rng := rand.New(rand.NewPCG(f.seed, 0))
	between := func(low, high time.Duration) time.Duration { return low + time.Duration(rng.Int64N(int64(high-low))) }
	var deeds []deed
	for order := int64(1); order <= int64(f.orders); order++ {
		placed := between(0, f.lastsFor)
		deeds = append(deeds, deed{at: placed, order: order})
		shipped := placed
		switch fate := rng.IntN(8); {
		case fate < 4:
			shipped += between(f.alertAfter/8, f.alertAfter)
		case fate < 6:
			shipped += between(f.alertAfter+demoResolution, f.escalateAfter+2*demoResolution)
		default:
			continue
		}
		if shipped < f.lastsFor {
			deeds = append(deeds, deed{at: shipped, order: order, ship: true, cancel: rng.IntN(2) == 0})
		}
	}
	slices.SortStableFunc(deeds, func(a, b deed) int { return cmp.Compare(a.at, b.at) })
	return number(deeds)
}

// number names the orders by their arrival.
func number(deeds []deed) []deed {
	names := make(map[int64]int64)
	for i, d := range deeds {
		if !d.ship {
			names[d.order] = int64(len(names) + 1)
		}
		deeds[i].order = names[d.order]
	}
	return deeds
}

// play lets the worker work and the app do its deeds, until the time is over or ctx ends.
func (s *stage) play(parent context.Context, f demoFlags, t *teller) error {
	err := s.act(parent, f, t, func(ctx context.Context) error {
		ctx, stop := context.WithCancel(ctx)
		defer stop()
		foretold := make(chan error, 1)
		go func() { foretold <- s.foretell(parent, ctx, f) }()
		err := s.forwarders.publishing(ctx, func() error { return s.worker.Work(ctx) })
		stop() // also where the worker cannot go on
		if unmade := <-foretold; unmade != nil && err == nil && parent.Err() == nil {
			err = unmade
		}
		return err
	})
	if err != nil {
		return err
	}
	return s.forwarders.publishRest(parent, demoTime) // the clerks and the worker have ended: nothing more commits
}

// act has the app do its deeds beside something that works, until the time is over or ctx ends.
func (s *stage) act(parent context.Context, f demoFlags, t *teller, work func(ctx context.Context) error) error {
	ctx, stop := context.WithTimeout(parent, f.lastsFor)
	defer stop()
	worked := make(chan error, 1)
	go func() {
		defer stop() // a worker that cannot go on is the end of the demonstration
		worked <- work(ctx)
	}()

	start := time.Now()
	desks := make([]chan deed, demoClerks)
	failed := make(chan error, demoClerks)
	var clerks sync.WaitGroup
	for i := range desks {
		desks[i] = make(chan deed, 1024)
		clerks.Go(func() {
			if err := s.clerk(ctx, desks[i], t); err != nil {
				failed <- err
				stop()
			}
		})
	}
	hand(ctx, plan(f), start, desks)
	clerks.Wait()
	<-ctx.Done()
	why := "time is up"
	if parent.Err() != nil {
		why = "interrupted"
	}
	t.note(why + ": the worker is told to stop, and what it has begun is committed")
	err := <-worked
	select {
	case first := <-failed:
		return first
	default:
	}
	return err
}

// hand gives out the deeds when their time comes. Those of one order go to one clerk, so that they stay in order.
func hand(ctx context.Context, deeds []deed, start time.Time, desks []chan deed) {
	defer func() {
		for _, desk := range desks {
			close(desk)
		}
	}()
	for _, d := range deeds {
		timer := time.NewTimer(time.Until(start.Add(d.at)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
		select {
		case desks[d.order%int64(len(desks))] <- d:
		case <-ctx.Done():
			return
		}
	}
}

// clerk does deeds until there are no more, or no more time.
func (s *stage) clerk(ctx context.Context, desk <-chan deed, t *teller) error {
	for d := range desk {
		if ctx.Err() != nil {
			return nil
		}
		if err := s.do(context.WithoutCancel(ctx), d, t); err != nil {
			return err
		}
	}
	return nil
}

// do does one deed, and tells of it. It does not stop halfway, so that the books know how it went. A transaction that
// the server gave up in favour of another is done again, which is the app's part wherever transactions meet.
func (s *stage) do(ctx context.Context, d deed, t *teller) error {
	ctx, cancel := context.WithTimeout(ctx, demoTimeout)
	defer cancel()
	placed, err := backoff.Retry(ctx, func() (orders.Placed, error) {
		placed, err := s.deal(ctx, d)
		if err != nil && !client.BeginAgain(err) {
			err = backoff.Permanent(err)
		}
		return placed, err
	}, backoff.WithBackOff(&backoff.ExponentialBackOff{InitialInterval: 5 * time.Millisecond, RandomizationFactor: 0.5,
		Multiplier: 2, MaxInterval: time.Second}))
	switch {
	case err != nil:
		return err
	case d.ship:
		t.shipped(d, s.now())
	default:
		t.placed(placed, s.now())
	}
	return nil
}

// transact places or ships an order, in a transaction, as an app would.
func (s *stage) transact(ctx context.Context, d deed) (placed orders.Placed, err error) {
	tx, err := s.app.BeginTx(ctx, nil)
	if err != nil {
		return placed, err
	}
	defer func() { _ = tx.Rollback() }() // nothing is left to roll back after a commit
	if d.ship {
		err = s.schedules.Outbox().Publish(ctx, tx, shippedEvent(d.order))
	}
	switch {
	case err != nil:
	case !d.ship:
		placed, err = s.leaving.Place(ctx, tx, orders.NewOrder{ID: d.order, PlacedAt: s.now()})
	case d.cancel:
		err = s.cancelling.Ship(ctx, tx, d.order)
	default:
		err = s.leaving.Ship(ctx, tx, d.order)
	}
	if err != nil {
		return placed, err
	}
	return placed, tx.Commit()
}

// foretell has the worker known as an agent until the play is over, and after a third of it a forecast made. It keeps what that says of the
// busiest slot which comes in time before the end. A busy machine may take longer for it than the play.
func (s *stage) foretell(ctx, play context.Context, f demoFlags) error {
	a, err := agent.New(play, s.db, agent.Options{Prefix: s.prefix, Name: s.worker.Name(), Concurrency: worker.DefaultConcurrency, Calling: s.worker.CallTime})
	if err != nil {
		return err
	}
	known := make(chan struct{})
	go func() {
		defer close(known)
		a.Run(play)
	}()
	defer func() { <-known }()
	end := s.now().Add(f.lastsFor)
	select {
	case <-time.After(f.lastsFor / 3):
	case <-play.Done():
		return nil
	}
	report, err := s.forecast(ctx)
	for errors.Is(err, forecast.ErrNone) { // that of the page is being made
		select {
		case <-time.After(demoResolution / 4):
		case <-play.Done():
			return nil
		}
		report, err = s.forecast(ctx)
	}
	if err == nil {
		s.foretold = busiest(report, end.Add(-2*demoResolution))
	}
	return err
}

func (s *stage) forecast(ctx context.Context) (forecast.Report, error) {
	maker, err := forecast.New(ctx, s.db, forecast.Options{Prefix: s.prefix, Name: s.worker.Name()})
	if err == nil {
		_, err = maker.Make(ctx)
	}
	if err != nil {
		return forecast.Report{}, err
	}
	return forecast.Slots(ctx, s.db, s.prefix, "")
}
