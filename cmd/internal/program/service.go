package program

import (
	"context"
	"time"

	"prescient/prescient/heartbeat"
	"prescient/prescient/service"
)

// endTime is how long a process that ends waits for heartbeats that are to be sent, and stopTime how long one does that was told to stop.
const endTime, stopTime = 5 * time.Second, 2 * time.Second

// NewService makes what works, as it is configured, and registers all job_execs. with changes the options before that.
func (s *Session) NewService(ctx context.Context, with func(ctx context.Context, o *service.Options) error) error {
	c := s.Config
	o := service.Options{Worker: s.workerOptions(), Pools: c.Worker.Pools, Version: s.Program.Version[:min(len(s.Program.Version), 64)], Connections: c.Connections}
	var err error
	if o.Heartbeats, err = s.newHeartbeats(ctx); err != nil {
		return err
	}
	if o.WakeUp, err = s.openWakeUp(ctx); err != nil {
		return s.Explain(err)
	}
	if err := with(ctx, &o); err != nil {
		return err
	}
	making, cancel := context.WithTimeout(ctx, ConnectTime)
	defer cancel()
	if s.Service, err = service.New(making, s.DB, o); err != nil {
		return s.Explain(err)
	}
	s.Client, s.Schedules, s.Jobs, s.Long, s.Config.Worker.Name = s.Service.Client, s.Service.Schedules, s.Service.Jobs, s.Service.Long, s.Service.Name()
	return s.register(ctx)
}

// newHeartbeats makes what tells services outside; nil where none are configured. At the end the session waits for a moment for what is to be sent:
// for less where ctx is over.
func (s *Session) newHeartbeats(ctx context.Context) (*heartbeat.Sender, error) {
	c := s.Config.Heartbeats
	if len(c.URLs) == 0 {
		return nil, nil
	}
	all := make(map[string]heartbeat.URLs, len(c.URLs))
	for _, h := range c.URLs {
		all[h.Name] = heartbeat.URLs{Start: h.Start.Reveal(), Success: h.Success.Reveal(), Failure: h.Failure.Reveal()}
	}
	sender, err := heartbeat.New(heartbeat.Options{Heartbeats: all, Slots: c.Slots, Log: s.Log})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() {
		wait := endTime
		if ctx.Err() != nil {
			wait = stopTime
		}
		ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), wait)
		defer cancel()
		sender.Close(ending)
	})
	return sender, nil
}
