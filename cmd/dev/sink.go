package dev

import (
	"context"
	"fmt"
	"unicode/utf8"

	"prescient/config"
	"prescient/config/value"
	"prescient/prescient/event/broker"
)

// scheme is that of the URLs that routes have here; unrouted is the URL of the route that takes what no other does.
const (
	scheme   = "dev"
	unrouted = scheme + ":none"
)

// printed are the routes of a configuration with their events printed. What none of them takes is printed, too.
func printed(routes []config.Route) []config.Route {
	rest := config.Route{Topics: "*", URL: value.NewSecret(unrouted), Format: "plain", Refused: config.RefusedSetAside}
	if len(routes) == 0 {
		rest.URL = value.NewSecret(scheme + ":")
	}
	var all []config.Route
	for _, r := range routes {
		r.URL, r.Secret = value.NewSecret(scheme+":"), value.Secret{}
		all = append(all, r)
	}
	return append(all, rest)
}

// open makes a broker that prints.
func (t *told) open(_ context.Context, o broker.Options) (broker.Broker, error) {
	return sink{t, o.URL == unrouted}, nil
}

// sink is a broker that prints each event, and has it then.
type sink struct {
	told     *told
	unrouted bool
}

// Publish implements broker.Broker.
func (s sink) Publish(ctx context.Context, m broker.Message) error {
	if err := context.Cause(ctx); err != nil {
		return err
	}
	l := line{What: kindEvent, Topic: m.Topic, Key: m.Key, ID: m.ID, Says: string(m.Body)}
	if !utf8.Valid(m.Body) {
		l.Says = fmt.Sprintf("%d bytes that are no text", len(m.Body))
	}
	if s.unrouted {
		l.Says = "no route of events.routes takes it, and work would have it wait: " + l.Says
	}
	s.told.line(l)
	return nil
}

// Close implements broker.Broker.
func (s sink) Close() error { return nil }
