package program

import (
	"context"
	"time"

	"github.com/rs/zerolog"

	"prescient/config"
	"prescient/prescient"
	"prescient/prescient/heartbeat"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
)

// endTime is how long a process that ends waits for heartbeats that are to be sent, and stopTime how long one does that was told to stop.
const endTime, stopTime = 5 * time.Second, 2 * time.Second

// heartbeats tell services outside of what workers and long runs do; nil where none are configured.
type heartbeats struct {
	*heartbeat.Sender
	isLong func(jobExec string) bool // whose calls long runs tell of
}

// newHeartbeats makes those that are configured.
func newHeartbeats(c config.Heartbeats, log zerolog.Logger, isLong func(jobExec string) bool) (*heartbeats, error) {
	if len(c.URLs) == 0 {
		return nil, nil
	}
	all := make(map[string]heartbeat.URLs, len(c.URLs))
	for _, h := range c.URLs {
		all[h.Name] = heartbeat.URLs{Start: h.Start.Reveal(), Success: h.Success.Reveal(), Failure: h.Failure.Reveal()}
	}
	sender, err := heartbeat.New(heartbeat.Options{Heartbeats: all, Slots: c.Slots, Log: log})
	if err != nil {
		return nil, err
	}
	return &heartbeats{sender, isLong}, nil
}

// end waits for a moment for what is to be sent: for less where ctx is over.
func (h *heartbeats) end(ctx context.Context) {
	wait := endTime
	if ctx.Err() != nil {
		wait = stopTime
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
	defer cancel()
	h.Close(ending)
}

// sent is told of the heartbeats of schedules whose events are in the outbox.
func (h *heartbeats) sent(name string) { h.Tell(name, heartbeat.Success) }

// ofLong is told of long runs; nil for nobody.
func (h *heartbeats) ofLong() *longrun.Observer {
	if h == nil {
		return nil
	}
	return &longrun.Observer{
		Calling: func(check prescient.FutureJob) { h.Tell(schedule.HeartbeatOf(check), heartbeat.Start) },
		Ended: func(check prescient.FutureJob, outcome prescient.Outcome) {
			h.Ended(schedule.HeartbeatOf(check), outcome)
		},
	}
}

// with is an observer, nil for none, that has services outside told, too.
func (h *heartbeats) with(o *worker.Observer) *worker.Observer {
	if h == nil {
		return o
	}
	var both worker.Observer
	if o != nil {
		both = *o
	}
	answered := both.Answered
	both.Served = h.Served
	both.Calling = func(job prescient.FutureJob) {
		if name := schedule.HeartbeatOf(job); name != "" && !h.isLong(job.JobExec) {
			h.Tell(name, heartbeat.Start)
		}
	}
	both.Answered = func(results []worker.Result) {
		for i := range results {
			if r := &results[i]; r.Outcome != "" && !r.Dropped {
				h.Ended(schedule.HeartbeatOf(r.Job), r.Outcome)
			}
		}
		if answered != nil {
			answered(results)
		}
	}
	return &both
}
