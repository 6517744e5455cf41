package forward

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"prescient/prescient/internal/lease"
	"prescient/prescient/internal/store"
)

// keepShards renews the leases of this forwarder's shards, takes those that are free and gives up those that others are to have, a third
// of the lease after it last did, until done.
func (f *Forwarder) keepShards(done <-chan struct{}) {
	ticker := time.NewTicker(f.options.Lease / 3)
	defer ticker.Stop()
	for {
		err := f.keepOnce()
		f.pass.meets("leases of shards could not be seen to", err)
		if err != nil {
			f.options.Log.Warn().Err(err).Msg("leases of the outbox's shards could not be seen to yet")
		}
		select {
		case <-done:
			return
		case <-ticker.C:
		}
	}
}

func (f *Forwarder) keepOnce() error {
	ctx, cancel := context.WithTimeout(store.Vital(context.Background()), min(f.statementTime(), f.options.Lease/3))
	defer cancel()
	micros := f.options.Lease.Microseconds()
	if f.pass == nil { // others give none of their shards up for a pass
		if _, err := f.db.ExecContext(ctx, f.tables.Stmt.Get("event/present"), f.name, micros); err != nil {
			return fmt.Errorf("saying that this forwarder is alive: %w", err)
		}
	}
	leases, err := f.renew(ctx, micros)
	if err != nil {
		return err
	}
	mine := f.held()
	take, give := share(leases, len(mine))
	if f.pass != nil {
		take, give = free(leases), 0
	}
	slices.SortFunc(mine, func(a, b *shard) int { return b.number - a.number })
	for _, s := range mine[:give] {
		go f.handOver(s)
	}
	if len(take) == 0 || f.isStopping() {
		return nil
	}
	asked, err := lease.Take(func(step uint64) error {
		_, err := f.db.ExecContext(ctx, f.tables.Fill("event/take", "{shards}", numbers(take)), step, f.name, micros)
		return err
	})
	if err != nil {
		return fmt.Errorf("taking shards: %w", err)
	}
	// What was taken by a statement whose answer was lost is found here as well.
	if leases, err = f.leases(ctx); err != nil {
		return err
	}
	f.start(leases, asked)
	return nil
}

// renew keeps the shards that this forwarder has, and says who has which since.
func (f *Forwarder) renew(ctx context.Context, micros int64) (leases []holder, err error) {
	mine := f.held()
	err = lease.Keep(mine, func() (func(*shard) lease.Standing, error) {
		if len(mine) > 0 {
			if _, err := f.db.ExecContext(ctx, f.tables.Fill("event/renew", "{shards}", tokensOf(mine)), micros); err != nil {
				return nil, fmt.Errorf("renewing leases: %w", err)
			}
		}
		leases, err = f.leases(ctx)
		return func(s *shard) lease.Standing {
			if slices.ContainsFunc(leases, func(l holder) bool { return l.Shard == s.number && l.Token == s.token }) {
				return lease.Kept
			}
			return lease.Gone
		}, err
	})
	return leases, err
}

// start publishes the events of shards that are this forwarder's since just now.
func (f *Forwarder) start(leases []holder, asked time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.stopping {
		return
	}
	for _, l := range leases {
		if l.Forwarder == f.name && l.Lives && f.shards[l.Shard] == nil {
			s := newShard(f, l, asked)
			f.shards[l.Shard] = s
			s.woken.Ring()
			f.readers.Go(s.run)
		}
	}
}

// leases reads who has which shard.
func (f *Forwarder) leases(ctx context.Context) (all []holder, err error) {
	if err := f.db.SelectContext(ctx, &all, f.tables.Stmt.Get("event/shards")); err != nil {
		return nil, fmt.Errorf("reading leases: %w", err)
	}
	return all, nil
}

// handOver gives a shard to others once what is under way has ended.
func (f *Forwarder) handOver(s *shard) {
	if !s.end() {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), f.statementTime())
	defer cancel()
	if _, err := f.db.ExecContext(ctx, f.tables.Fill("event/give_back", "{shards}", tokensOf([]*shard{s}))); err != nil {
		f.options.Log.Warn().Err(err).Int("shard", s.number).Msg("a shard could not be given back; others take it when its lease is over")
	}
	f.forget(s)
}

// leave gives everything back, also what was taken as the run ended and never begun.
func (f *Forwarder) leave() error {
	ctx, cancel := context.WithTimeout(store.Vital(context.Background()), f.statementTime())
	defer cancel()
	leases, err := f.leases(ctx)
	if err != nil {
		return fmt.Errorf("giving shards back: %w", err)
	}
	var mine []*shard
	for _, l := range leases {
		if l.Forwarder == f.name && l.Lives {
			mine = append(mine, &shard{number: l.Shard, token: l.Token})
		}
	}
	if len(mine) > 0 {
		if _, err := f.db.ExecContext(ctx, f.tables.Fill("event/give_back", "{shards}", tokensOf(mine))); err != nil {
			return fmt.Errorf("giving shards back: %w", err)
		}
	}
	if _, err := f.db.ExecContext(ctx, f.tables.Stmt.Get("event/absent"), f.name); err != nil {
		return fmt.Errorf("saying that this forwarder is gone: %w", err)
	}
	return nil
}

// tokensOf is the condition that holds for shards under their tokens.
func tokensOf(some []*shard) string {
	parts := make([]string, len(some))
	for i, s := range some {
		parts[i] = fmt.Sprintf("(shard = %d AND token = %d)", s.number, s.token)
	}
	return strings.Join(parts, " OR ")
}

func numbers[T int | uint64](some []T) string {
	parts := make([]string, len(some))
	for i, n := range some {
		parts[i] = fmt.Sprint(n)
	}
	return strings.Join(parts, ",")
}

// beginPass looks which event is the last of each shard, where there is a pass that has not begun.
func (f *Forwarder) beginPass(ctx context.Context) error {
	if f.pass == nil || f.pass.hasBegun() {
		return nil
	}
	var last []waiting
	if err := f.db.SelectContext(ctx, &last, f.tables.Stmt.Get("event/last")); err != nil {
		return err
	}
	f.pass.begin(last)
	return nil
}

// passIsOver says whether the pass has ended, and why events are left.
func (f *Forwarder) passIsOver(ctx context.Context, some []waiting) (over bool, left error) {
	mine := make(map[int]bool)
	for _, s := range f.held() {
		mine[s.number] = true
	}
	over, stuck, err := f.pass.isOver(some, mine, time.Now())
	if f.saidPaused {
		over, stuck, err = true, nil, nil
	}
	if len(stuck) > 0 {
		err = f.stuck(ctx, stuck)
	}
	if over || ctx.Err() != nil {
		return true, errors.Join(f.pass.verdict(), err)
	}
	return false, nil
}

// stuck is the error that says whose shards are in which nothing goes on.
func (f *Forwarder) stuck(ctx context.Context, shards []int) error {
	ctx, cancel := context.WithTimeout(ctx, f.statementTime())
	defer cancel()
	leases, err := f.leases(ctx)
	if err != nil {
		return fmt.Errorf("%w, in %d shards that this forwarder does not have: %w", ErrLeft, len(shards), err)
	}
	holder := "nobody"
	for _, l := range leases {
		if l.Lives && slices.Contains(shards, l.Shard) {
			holder = fmt.Sprintf("forwarder %q", l.Forwarder)
		}
	}
	return fmt.Errorf("%w: %s has shards with events, such as %d, and published none of them for %s", ErrLeft, holder, slices.Min(shards),
		f.pass.patience.Round(time.Second))
}
