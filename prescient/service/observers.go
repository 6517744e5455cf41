package service

import (
	"time"

	"prescient/prescient"
	"prescient/prescient/heartbeat"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
	"prescient/prescient/worker/books"
)

// sent is told of the heartbeats of schedules whose events are in the outbox.
func (s *Service) sent(name string) { s.options.Heartbeats.Tell(name, heartbeat.Success) }

// longObserver has the user's observer, and services outside, told of long runs; nil for nobody.
func (s *Service) longObserver() *longrun.Observer {
	first, h := s.options.LongRuns, s.options.Heartbeats
	if h == nil {
		return first
	}
	if first == nil {
		first = new(longrun.Observer)
	}
	return &longrun.Observer{
		Calling: func(check prescient.FutureJob) {
			if first.Calling != nil {
				first.Calling(check)
			}
			h.Tell(schedule.HeartbeatOf(check), heartbeat.Start)
		},
		Ended: func(check prescient.FutureJob, outcome prescient.Outcome) {
			if first.Ended != nil {
				first.Ended(check, outcome)
			}
			h.Ended(schedule.HeartbeatOf(check), outcome)
		},
	}
}

// heartbeats has services outside told of slots, and of calls that are no long runs; nil for nobody.
func (s *Service) heartbeats() *worker.Observer {
	h := s.options.Heartbeats
	if h == nil {
		return nil
	}
	return &worker.Observer{
		Served: h.Served,
		Calling: func(job prescient.FutureJob) {
			if name := schedule.HeartbeatOf(job); name != "" && s.Registry.LongOf(job.JobExec) == nil {
				h.Tell(name, heartbeat.Start)
			}
		},
		Answered: func(results []worker.Result) {
			for i := range results {
				if r := &results[i]; r.Outcome != "" && !r.Dropped {
					h.Ended(schedule.HeartbeatOf(r.Job), r.Outcome)
				}
			}
		},
	}
}

// joined is one observer in place of several, in their order. What none of them wants to be told of it does not, either.
func joined(all ...*worker.Observer) *worker.Observer {
	one := new(worker.Observer)
	for _, o := range all {
		if o == nil {
			continue
		}
		before := *one
		if fn := o.Working; fn != nil {
			if one.Working = fn; before.Working != nil {
				one.Working = func() { before.Working(); fn() }
			}
		}
		if fn := o.SlotRun; fn != nil {
			if one.SlotRun = fn; before.SlotRun != nil {
				one.SlotRun = func(f books.Figures, err error) { before.SlotRun(f, err); fn(f, err) }
			}
		}
		if fn := o.Served; fn != nil {
			if one.Served = fn; before.Served != nil {
				one.Served = func(slot time.Time) { before.Served(slot); fn(slot) }
			}
		}
		if fn := o.Calling; fn != nil {
			if one.Calling = fn; before.Calling != nil {
				one.Calling = func(job prescient.FutureJob) { before.Calling(job); fn(job) }
			}
		}
		if fn := o.Answered; fn != nil {
			if one.Answered = fn; before.Answered != nil {
				one.Answered = func(results []worker.Result) { before.Answered(results); fn(results) }
			}
		}
		if fn := o.Committed; fn != nil {
			if one.Committed = fn; before.Committed != nil {
				one.Committed = func(c worker.Commit) { before.Committed(c); fn(c) }
			}
		}
	}
	return one
}
