package program

import (
	"context"
	"fmt"
	"strings"

	"github.com/rs/zerolog"

	"prescient/prescient/longrun/wakeup"
)

// OpenWakeUp opens a wake-up of agents at the URL of a broker; stop closes it.
type OpenWakeUp = func(url, subject string, log zerolog.Logger) (w wakeup.WakeUp, stop func(), err error)

// openWakeUp opens the wake-up of agents at the first broker of events that has one; nil where there is none. Each database, and each
// prefix of its tables, has a subject of its own.
func (s *Session) openWakeUp(ctx context.Context) (wakeup.WakeUp, error) {
	for i, route := range s.Config.Events.Routes {
		scheme, _, _ := strings.Cut(route.URL.Reveal(), ":")
		open := s.Program.WakeUps[scheme]
		if open == nil {
			continue
		}
		var database string
		if err := s.DB.QueryRowContext(ctx, "SELECT DATABASE()").Scan(&database); err != nil {
			return nil, fmt.Errorf("asking for the name of the database: %w", err)
		}
		w, stop, err := open(route.URL.Reveal(), "prescient.agents."+part(database)+"."+part(s.Config.TablePrefix+"agents"), s.Log)
		if err != nil {
			return nil, fmt.Errorf("events.routes[%d].url: %w", i, err)
		}
		s.closers = append(s.closers, stop)
		return w, nil
	}
	return nil, nil
}

// part is a part of a subject that is made of a name.
func part(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, name)
}
