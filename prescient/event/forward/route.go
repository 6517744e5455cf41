package forward

import (
	"fmt"
	"strings"

	"prescient/prescient"
	"prescient/prescient/event/broker"
)

// Route says where events of some topics go.
type Route struct {
	// Topics is a topic, or the beginning of some and *, such as orders.*; * alone is every topic.
	Topics string
	// Broker takes them. It is closed by whoever opened it.
	Broker broker.Broker
	// Format is what they are made into; broker.Plain where it is nil.
	Format broker.Format
	// Hold has an event that the broker refuses hold up its key, and be tried again, until somebody sees to it. Otherwise it is set
	// aside.
	Hold bool
}

// takes says whether a topic goes by the route.
func (r Route) takes(topic string) bool {
	if beginning, all := strings.CutSuffix(r.Topics, "*"); all {
		return strings.HasPrefix(topic, beginning)
	}
	return r.Topics == topic
}

// routeOf is the first route that takes a topic; nil for none.
func routeOf(routes []Route, topic string) *Route {
	for i := range routes {
		if routes[i].takes(topic) {
			return &routes[i]
		}
	}
	return nil
}

func validRoutes(routes []Route) error {
	if len(routes) == 0 {
		return fmt.Errorf("%w: a forwarder needs at least one route", prescient.ErrInvalid)
	}
	for i, r := range routes {
		switch {
		case r.Topics == "" || strings.Contains(strings.TrimSuffix(r.Topics, "*"), "*"):
			return fmt.Errorf("%w: route %d has topics %q: a topic is allowed, or the beginning of some and *", prescient.ErrInvalid, i+1, r.Topics)
		case r.Broker == nil:
			return fmt.Errorf("%w: route %d (%s) has no broker", prescient.ErrInvalid, i+1, r.Topics)
		}
	}
	return nil
}
