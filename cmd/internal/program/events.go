package program

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"prescient/config"
	"prescient/config/value"
	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/event/forward"
	"prescient/prescient/service"
	"prescient/sql"
)

// plainFormat is the name of the format of routes that name none.
const plainFormat = "plain"

// NewForwarder returns a forwarder as it is configured; observer may be nil. Without routes there is none: it returns nil.
func (s *Session) NewForwarder(ctx context.Context, observer *forward.Observer) (*forward.Forwarder, error) {
	routes, err := s.Routes(ctx)
	if err != nil || len(routes) == 0 {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, ConnectTime)
	defer cancel()
	c := s.Config
	f, err := forward.New(ctx, s.DB, forward.Options{Prefix: c.TablePrefix, Dialect: sql.Dialect(c.Dialect), Routes: routes, Taken: s.Schedules.Outbox().Taken(),
		Name: c.Worker.Name, Lease: c.Events.Lease, Poll: c.Events.Poll, Concurrency: c.Events.Concurrency, StopGrace: c.Worker.StopGrace,
		Keep: c.Events.Keep, Observer: observer, Log: s.Log})
	return f, s.Explain(err)
}

// EventsOf is how a service publishes events, as it is configured.
func (s *Session) EventsOf(ctx context.Context) (service.Events, error) {
	e := s.Config.Events
	routes, err := s.Routes(ctx)
	return service.Events{Routes: routes, Lease: e.Lease, Poll: e.Poll, Concurrency: e.Concurrency, Keep: e.Keep}, err
}

// Routes opens the brokers of the configuration, each once. They are closed with the session.
func (s *Session) Routes(ctx context.Context) (routes []forward.Route, err error) {
	opened := make(map[[2]string]broker.Broker)
	for i, r := range s.Config.Events.Routes {
		key := fmt.Sprintf("events.routes[%d]", i)
		route := forward.Route{Topics: r.Topics, Hold: r.Refused == config.RefusedHold}
		if r.Format != plainFormat {
			format, is := s.Program.Formats[r.Format]
			if !is {
				return nil, fmt.Errorf("%s.format: %s is not known here; there are %s", key, value.Quote(r.Format),
					strings.Join(append([]string{plainFormat}, slices.Sorted(maps.Keys(s.Program.Formats))...), ", "))
			}
			if route.Format, err = format(s.Config.Events.Source); err != nil {
				return nil, fmt.Errorf("%s.format: %w", key, err)
			}
		}
		same := [2]string{r.URL.Reveal(), r.Secret.Reveal()}
		if opened[same] == nil {
			if opened[same], err = s.openBroker(ctx, r); err != nil {
				return nil, fmt.Errorf("%s.url: %w", key, err)
			}
		}
		route.Broker = opened[same]
		routes = append(routes, route)
	}
	return routes, nil
}

func (s *Session) openBroker(ctx context.Context, r config.Route) (broker.Broker, error) {
	scheme, _, _ := strings.Cut(r.URL.Reveal(), ":")
	open, is := s.Program.Brokers[scheme]
	if !is {
		has := "none"
		if len(s.Program.Brokers) > 0 {
			has = strings.Join(slices.Sorted(maps.Keys(s.Program.Brokers)), ", ")
		}
		return nil, fmt.Errorf("%s is no broker that this program was built with; it has %s", value.Quote(scheme), has)
	}
	ctx, cancel := context.WithTimeout(ctx, ConnectTime)
	defer cancel()
	b, err := open(ctx, broker.Options{URL: r.URL.Reveal(), Secret: []byte(r.Secret.Reveal()), Log: s.Log})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, func() {
		if err := b.Close(); err != nil {
			s.Log.Debug().Err(err).Msg("closing a broker")
		}
	})
	return b, nil
}

// Outbox says what waits in the outbox, by topic.
func (s *Session) Outbox(ctx context.Context) ([]event.Waiting, error) {
	return s.Schedules.Outbox().Backlog(ctx, s.DB)
}
