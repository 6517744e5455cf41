package shards

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
)

const (
	// leastPause is the time between two looks at the least, and before a shard is served again after its first error; it doubles up to mostPause.
	leastPause = time.Second
	mostPause  = 15 * time.Second
	// mostEvery is the time between two looks at the most.
	mostEvery = time.Minute
	// sayEvery is how often an error is said that stays the same.
	sayEvery = 10 * time.Minute
)

// Keyspace is one to be served.
type Keyspace struct {
	// List asks for its shards, as List does.
	List func(ctx context.Context) ([]string, error)
	// Every is the time from one look for its shards to the next: that from one slot to the next, a minute at most, which is also the default.
	Every time.Duration
	Log   zerolog.Logger

	looks chan struct{} // a look is due, whatever Every says
}

// New returns a keyspace that can be told to look.
func New(k Keyspace) *Keyspace {
	if k.Every <= 0 || k.Every > mostEvery {
		k.Every = mostEvery
	}
	k.looks = make(chan struct{}, 1)
	return &k
}

// Look has Serve look soon for the shards that there are: one answered that it has no server. It may be called at any time, and does not block.
func (k *Keyspace) Look() {
	select {
	case k.looks <- struct{}{}:
	default:
	}
}

// Serve calls serve for each shard, at the same time, until ctx ends and all calls have returned; then it returns nil. The context of a call ends, too,
// once its shard is there no more. A call that returns before is made again, after a second at first and 15 at most, and its error is logged. One that
// wraps prescient.ErrInvalid is the same on each shard: it ends all of them, and is returned, as is an error of the first look.
func (k *Keyspace) Serve(ctx context.Context, serve func(ctx context.Context, shard string) error) error {
	list, err := k.List(ctx)
	if err != nil {
		return err
	}
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	s := &serving{Keyspace: k, ctx: ctx, fail: fail, serve: serve, ends: make(map[string]func())}
	defer s.all.Wait()
	s.follow(list)
	for {
		if !k.await(ctx) {
			break
		}
		list, err := k.List(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			k.Log.Warn().Err(err).Msg("which shards there are cannot be seen; those that were there are served")
		default:
			s.follow(list)
		}
	}
	s.all.Wait()
	if cause := context.Cause(ctx); errors.Is(cause, prescient.ErrInvalid) {
		return cause
	}
	return nil
}

// await waits until the next look is due; it says false once ctx has ended.
func (k *Keyspace) await(ctx context.Context) bool {
	if !sleep(ctx, leastPause) {
		return false
	}
	timer := time.NewTimer(k.Every - leastPause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-k.looks:
	case <-timer.C:
	}
	return true
}

// serving is one Serve under way.
type serving struct {
	*Keyspace
	ctx   context.Context //nolint:containedctx // that of all calls
	fail  context.CancelCauseFunc
	serve func(ctx context.Context, shard string) error
	ends  map[string]func() // by the shards that are served
	all   sync.WaitGroup
}

// follow has the shards of a list be served, and no others.
func (s *serving) follow(list []string) {
	for _, shard := range slices.Sorted(maps.Keys(s.ends)) {
		if !slices.Contains(list, shard) {
			s.Log.Info().Str("shard", shard).Strs("shards", list).Msg("the shard is there no more: what runs on it ends")
			s.ends[shard]()
			delete(s.ends, shard)
		}
	}
	for _, shard := range list {
		if s.ends[shard] == nil {
			ctx, end := context.WithCancel(s.ctx)
			s.ends[shard] = end
			s.all.Go(func() {
				defer end()
				s.keepServing(ctx, shard)
			})
		}
	}
}

// keepServing calls serve for a shard again and again until ctx ends.
func (s *serving) keepServing(ctx context.Context, shard string) {
	pause, said, at := leastPause, "", time.Time{}
	for {
		began := time.Now()
		err := s.serve(ctx, shard)
		switch {
		case errors.Is(err, prescient.ErrInvalid):
			s.fail(err)
			return
		case ctx.Err() != nil:
			return
		case time.Since(began) > mostEvery: // it was served
			pause = leastPause
		}
		if why := textOf(err); why != said || time.Since(at) >= sayEvery {
			said, at = why, time.Now()
			s.Log.Error().Err(err).Str("shard", shard).Msg("the shard is not served for now; it is tried again, and the others are served")
		}
		s.Look()
		if !sleep(ctx, pause) {
			return
		}
		pause = min(2*pause, mostPause)
	}
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// sleep waits, and says false where ctx ends before.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(max(d, 0))
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
