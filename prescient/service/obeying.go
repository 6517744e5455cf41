package service

import (
	"context"
	"math"
	"sync/atomic"
	"time"

	"prescient/prescient/agent"
)

// idle says until when a process is well though it does not work. It is for concurrent use.
type idle struct{ until atomic.Int64 }

// forSome has it be well for so long, and always for as long as there is to wait.
func (i *idle) forSome(d time.Duration) { i.until.Store(time.Now().Add(d).UnixNano()) }
func (i *idle) always()                 { i.until.Store(math.MaxInt64) }
func (i *idle) over()                   { i.until.Store(0) }
func (i *idle) isWell() bool            { return time.Now().UnixNano() < i.until.Load() }

// settleTime is what ending and beginning may take beyond the grace that what runs has.
const settleTime = time.Minute

// obeying runs what works until ctx ends. While the agent is to drain nothing works: what was under way ends as at a stop, long runs are handed on, and the
// process stays. That it rests is said meanwhile, and is over once something works again.
func (s *Service) obeying(ctx context.Context, a *agent.Agent, work func(ctx context.Context) error) error {
	times, log := s.options.Worker.Times, s.options.Worker.Log
	for {
		drains, turns := a.Drains()
		if !drains {
			if s.Long != nil {
				s.Long.GoOn()
			}
			left, err := until(ctx, turns, func() {
				s.rests.forSome(times.StopGrace + times.Lease + settleTime)
				log.Info().Stringer("grace", times.StopGrace).Msg("draining: nothing new is started until agents undrain, what runs may end")
			}, work)
			if !left || err != nil || ctx.Err() != nil {
				return err
			}
			s.rests.always()
			log.Info().Msg("drained: what ran has ended or was handed on")
			continue
		}
		select {
		case <-ctx.Done():
			return nil
		case <-turns:
			s.rests.forSome(settleTime)
			log.Info().Msg("draining no more: working")
		}
	}
}

// until runs what works until ctx ends, or the agent is told to drain: then it says that it left for that.
func until(ctx context.Context, told <-chan struct{}, leaving func(), work func(ctx context.Context) error) (left bool, err error) {
	ctx, stop := context.WithCancel(ctx)
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-told:
			left = true
			leaving()
			stop()
		case <-ctx.Done():
		}
	}()
	err = work(ctx)
	stop()
	<-watched
	return left, err
}
