package events

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

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
		if err := st.outbox.Publish(ctx, st.App, st.next(n)...); err != nil {
			return err
		}
		if err := st.AwaitCalm(ctx); err != nil {
			return err
		}
		if _, err := b.Took(fmt.Sprintf("out: to %s, %d forwarders", c.name, c.forwarders), round, []int{st.Pid}, func() (int, error) {
			return n, st.drain(ctx, c.to, c.forwarders)
		}); err != nil {
			return err
		}
		if err := st.empty(ctx); err != nil {
			return err
		}
	}
	return nil
}

// drain publishes until the outbox is empty.
func (st *stage) drain(ctx context.Context, to broker.Broker, forwarders int) error {
	return rig.InParallel(ctx, forwarders, forwarders, func(ctx context.Context, _ int) error {
		f, err := st.forwarder(ctx, to, forward.Options{Lease: 3 * time.Second})
		if err != nil {
			return err
		}
		return f.RunUntilEmpty(ctx)
	})
}

// perSecond is how many events a second the delays are measured at.
const perSecond = 200

// delays measures from commit to acknowledgement, with the app in the forwarder's process and in another.
func (st *stage) delays(ctx context.Context, b *rig.Bench, round int, to *brokers) error {
	n := b.Scaled(4_000)
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
