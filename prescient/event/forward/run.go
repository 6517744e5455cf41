package forward

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

// Run publishes until ctx ends. Then it lets what is under way end, for StopGrace, and gives its shards back. It returns nil once that is
// done, or an error where shards could not be given back: others take them when the lease is over.
func (f *Forwarder) Run(ctx context.Context) error { return f.run(ctx, nil) }

// RunUntilEmpty is one pass over what is in the outbox as it begins: it publishes each key's events up to the first that fails, and ends.
// What comes meanwhile is the next pass's, and shards that another forwarder has are left to that. The error wraps ErrLeft, and names the
// oldest event that failed, where events are left that could not be published; what is set aside is not left. It waits for others' shards for
// two leases, a minute at most, then names those of which nothing went out. It ends too where the database refuses it as long.
func (f *Forwarder) RunUntilEmpty(ctx context.Context) error {
	// In two leases one that nobody renews is over, and the shard taken. A pass that waits for a longer one has the next pile up behind it.
	return f.run(ctx, newPass(min(2*f.options.Lease, mostPatience)))
}

// begin makes what a run has of its own.
func (f *Forwarder) begin(p *pass) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.running {
		return fmt.Errorf("%w: the forwarder runs already", prescient.ErrInvalid)
	}
	f.running, f.stopping, f.pass = true, false, p
	f.paused.Store(true)
	f.saidPaused = false
	f.topics, f.notes, f.settled = newTopics(f.options.Concurrency), newNotes(f.sendNote, f.options.Log), newSettled(f.options.Concurrency)
	f.patient = make(chan struct{}, mostPatient)
	f.shards, f.lost = make(map[int]*shard), make(map[*shard]bool)
	return nil
}

func (f *Forwarder) ends() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running = false
	f.looked.Store(0)
}

func (f *Forwarder) run(ctx context.Context, p *pass) error {
	if err := f.begin(p); err != nil {
		return err
	}
	defer f.ends()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	publishing, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	f.publishing = publishing
	var keeping, settling sync.WaitGroup
	kept := make(chan struct{})
	keeping.Go(func() { f.keepShards(kept) })
	noted := make(chan struct{})
	var noting sync.WaitGroup
	noting.Go(func() { f.notes.keep(f.publishing, noted) })
	for _, some := range f.settled {
		settling.Go(func() { f.settleAll(some) })
	}
	left := f.watch(ctx)
	stop()

	var ended sync.WaitGroup
	for _, s := range f.stop() {
		ended.Go(func() { s.end() })
	}
	grace := time.AfterFunc(f.options.StopGrace, cut)
	ended.Wait()
	grace.Stop()
	cut()
	f.readers.Wait()
	close(kept)
	keeping.Wait()
	for _, some := range f.settled {
		close(some)
	}
	settling.Wait()
	f.alone.Wait()
	close(noted)
	noting.Wait()
	return errors.Join(left, f.leave())
}

// stop takes no more shards, and returns those that there are, and those that were lost and have something under way.
func (f *Forwarder) stop() []*shard {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stopping = true
	return slices.AppendSeq(slices.Collect(maps.Values(f.shards)), maps.Keys(f.lost))
}

// soonest is the shortest time between two looks.
const soonest = 10 * time.Millisecond

// watch looks which shards have events, and has them read, until ctx ends or the pass is over. It returns why events are left that a
// pass could not publish.
func (f *Forwarder) watch(ctx context.Context) error {
	pause, trouble := f.options.Poll, store.NewBackOff()
	for {
		began := time.Now()
		some, err := f.look(ctx)
		f.looked.Store(time.Now().UnixNano())
		if f.pass != nil {
			f.pass.meets("the outbox could not be looked at", err)
			if over, left := f.passIsOver(ctx, some); over {
				return left
			}
		}
		switch {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			pause = trouble.NextBackOff()
			f.options.Log.Warn().Err(err).Msg("the outbox cannot be looked at; this is tried again")
		default:
			trouble.Reset()
			pause = min(2*pause, f.options.Poll)
			f.wake(some)
			_ = store.Sleep(ctx, restOf(time.Since(began))-pause) // an error is that ctx ended, which the next look tells
		}
		timer := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-timer.C:
		case <-f.options.Taken:
			// What was put in there commits soon.
			pause = soonest / 2
			_ = store.Sleep(ctx, soonest) // an error is that ctx ended, which the next look tells
		}
		timer.Stop()
	}
}

// look returns the shards that have events, with the first of each, and takes note of whether they are paused. A pass looks first what it
// is over.
func (f *Forwarder) look(ctx context.Context) (some []waiting, err error) {
	ctx, cancel := context.WithTimeout(ctx, f.statementTime())
	defer cancel()
	if err := f.beginPass(ctx); err != nil {
		return nil, err
	}
	if err = f.db.SelectContext(ctx, &some, f.tables.Stmt.Get("event/waiting"), prescient.AllExecs, prescient.AllEvents); err != nil {
		return nil, err
	}
	i := slices.IndexFunc(some, func(w waiting) bool { return w.Shard == ofPauses })
	if i < 0 {
		return nil, errors.New("whether events are paused cannot be seen")
	}
	f.pause(some[i].Seq > 0)
	return slices.Delete(some, i, i+1), nil
}

// ofPauses is what stands in place of a shard where a look counts pauses.
const ofPauses = -1

// pause publishes nothing more, or goes on. What a broker has in hand it may acknowledge.
func (f *Forwarder) pause(paused bool) {
	f.paused.Store(paused)
	switch {
	case paused && !f.saidPaused:
		f.options.Log.Info().Msg("events are paused: none is published until resume --all or resume --events")
	case !paused && f.saidPaused:
		f.options.Log.Info().Msg("events are not paused any more")
	}
	f.saidPaused = paused
}

func (f *Forwarder) wake(some []waiting) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, w := range some {
		if s := f.shards[w.Shard]; s != nil {
			s.woken.Ring()
		}
	}
}
