package events

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/forward"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

// forwarder makes one that publishes to a broker.
func (st *stage) forwarder(ctx context.Context, to broker.Broker, o forward.Options) (*forward.Forwarder, error) {
	o.Routes = []forward.Route{{Topics: "*", Broker: to}}
	return forward.New(ctx, st.DB, o)
}

// out measures how long a full outbox takes until it is empty.
func (st *stage) out(ctx context.Context, b *rig.Bench, round int, to *brokers) error {
	n := b.Scaled(100_000)
	for _, c := range []struct {
		name       string
		to         broker.Broker
		forwarders int
	}{{"nobody", nobody{}, 1}, {"nobody", nobody{}, 2}, {"NATS", to.nats, 1}, {"NATS", to.nats, 2}, {"Kafka's protocol", to.kafka, 1}} {
		if !b.Wants("out") {
			continue
		}
		some, err := st.begin(ctx, c.to, c.forwarders)
		if err != nil {
			return err
		}
		// They commit together, after which the clock starts.
		if err := st.outbox.Publish(ctx, st.App, st.next(n)...); err != nil {
			return errors.Join(err, some.end())
		}
		_, err = b.Took(fmt.Sprintf("out: to %s, %d forwarders", c.name, c.forwarders), round, []int{st.Pid}, func() (int, error) {
			return n, some.await(ctx, n)
		})
		if err := errors.Join(err, some.end()); err != nil {
			return err
		}
		if err := st.empty(ctx); err != nil {
			return err
		}
	}
	return nil
}

// running are forwarders that have the shards of the outbox among them.
type running struct {
	published atomic.Int64
	taken     []chan struct{} // of each
	stop      context.CancelFunc
	group     *errgroup.Group
}

// begin starts forwarders, and returns once each has its share of the shards: the first of them would otherwise have them all for a while.
func (st *stage) begin(ctx context.Context, to broker.Broker, forwarders int) (*running, error) {
	r := &running{}
	ctx, r.stop = context.WithCancel(ctx)
	r.group, ctx = errgroup.WithContext(ctx)
	o := forward.Options{Lease: 3 * time.Second, Observer: &forward.Observer{Published: func(_ string, delays []time.Duration) {
		r.published.Add(int64(len(delays)))
	}}}
	for i := range forwarders {
		r.taken = append(r.taken, make(chan struct{}, 1))
		o.Taken = r.taken[i]
		f, err := st.forwarder(ctx, to, o)
		if err != nil {
			return nil, errors.Join(err, r.end())
		}
		r.group.Go(func() error { return f.Run(ctx) })
	}
	for have := 0; have != forwarders; {
		if err := rig.Pause(ctx, 20*time.Millisecond); err != nil {
			return nil, errors.Join(err, r.end())
		}
		if err := st.DB.GetContext(ctx, &have, "SELECT COUNT(*) FROM (SELECT forwarder FROM event_shard WHERE allocated_until > UTC_TIMESTAMP(6) GROUP BY forwarder HAVING COUNT(*) = ?) some",
			event.Shards/forwarders); err != nil {
			return nil, errors.Join(err, r.end())
		}
	}
	return r, nil
}

// await tells the forwarders of what has committed, and returns once so many events were published and deleted.
func (r *running) await(ctx context.Context, n int) error {
	for _, taken := range r.taken {
		taken <- struct{}{}
	}
	for r.published.Load() < int64(n) {
		if err := rig.Pause(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

func (r *running) end() error {
	r.stop()
	return r.group.Wait()
}

// perSecond is how many events a second the delays are measured at.
const perSecond = 200

// delays measures from commit to acknowledgement, with the app in the forwarder's process and in another.
func (st *stage) delays(ctx context.Context, b *rig.Bench, round int, to *brokers) error {
	n := b.Scaled(4_000) + perSecond
	for _, here := range []bool{true, false} {
		if !b.Wants("delay") {
			continue
		}
		name, o := "delay: 200 a second to NATS, from another process", forward.Options{}
		if here {
			name, o.Taken = "delay: 200 a second to NATS, from the forwarder's process", st.outbox.Taken()
		}
		var mu sync.Mutex
		var all []time.Duration
		o.Observer = &forward.Observer{Published: func(_ string, delays []time.Duration) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, delays...)
		}}
		f, err := st.forwarder(ctx, to.nats, o)
		if err != nil {
			return err
		}
		_, err = b.TookWith(name, round, []int{st.Pid}, func() (int, error) { return n, st.steadily(ctx, f, n) }, func(r *page.Record) {
			mu.Lock()
			defer mu.Unlock()
			all = all[min(perSecond, len(all)):] // in the first second the forwarder takes its shards and connects
			slices.Sort(all)
			if len(all) > 0 {
				r.Figures = map[string]float64{"p50 ms": ms(all[len(all)/2]), "p99 ms": ms(all[len(all)*99/100])}
			}
		})
		if err != nil {
			return err
		}
		if err := st.empty(ctx); err != nil {
			return err
		}
	}
	return nil
}

func ms(d time.Duration) float64 { return d.Seconds() * 1000 }

// steadily publishes events, so many a second, while a forwarder runs, and then until all are out.
func (st *stage) steadily(ctx context.Context, f *forward.Forwarder, n int) error {
	running, stop := context.WithCancel(ctx)
	defer stop()
	ended := make(chan error, 1)
	go func() { ended <- f.Run(running) }()
	tick := time.NewTicker(time.Second / perSecond)
	defer tick.Stop()
	for _, e := range st.next(n) {
		if err := st.outbox.Publish(ctx, st.App, e); err != nil {
			return err
		}
		<-tick.C
	}
	for waits := 1; waits > 0; {
		if err := rig.Pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
		if err := st.DB.GetContext(ctx, &waits, "SELECT EXISTS (SELECT 1 FROM event_outbox)"); err != nil {
			return err
		}
	}
	stop()
	return <-ended
}
