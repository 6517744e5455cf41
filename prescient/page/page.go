package page

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient/ops"
	"prescient/prescient/ops/door"
	"prescient/prescient/page/internal/agents"
	"prescient/prescient/page/internal/bulk"
	"prescient/prescient/page/internal/changes"
	"prescient/prescient/page/internal/check"
	"prescient/prescient/page/internal/events"
	"prescient/prescient/page/internal/execs"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/health"
	"prescient/prescient/page/internal/people"
	"prescient/prescient/page/internal/recurring"
	"prescient/prescient/page/internal/rules"
	"prescient/prescient/page/internal/slot"
)

// ErrNobody is returned by Options.Who where a request does not say who sent it.
var ErrNobody = front.ErrNobody

// ErrTooMany is returned by Options.Who where a request is not looked at, as too many came from there.
var ErrTooMany = front.ErrTooMany

// User is who looks: a name for the page and the audit, and a role.
type User = front.User

// Options are for New. Who is needed.
type Options struct {
	// BaseURL is where browsers find the page, its path included, as in https://ops.example.org/prescient. It is the only source of absolute URLs.
	// Requests are taken with that path before theirs and without it. Empty for the root of the host.
	BaseURL string
	// Place and Colour are the name and the colour of the installation, on every page and in each confirmation: blue, green, grey, orange, red, teal
	// or violet.
	Place, Colour string
	// Proxies are the addresses of proxies that are believed when they say where a request came from; none by default.
	Proxies []netip.Prefix
	// Who says who sent a request, and in which role they are; the error wraps ErrNobody for nobody.
	Who func(*http.Request) (User, error)
	// Login is the path below the base where one logs in, Account that of the own account, Logout of where one is logged out by a POST; empty for none.
	Login, Account, Logout string
	// Users says that people sign in by users that the tables have: then admins have pages for these.
	Users bool
	// Concurrent is how many looks and deeds are under way at a time; 16 by default.
	Concurrent int
	// Rate is how many requests a second each user may send, in bursts of twice as many; 20 by default.
	Rate float64
	// Counts gets what is refused; nothing is counted by default.
	Counts *door.Counts
	// Log gets what failed; nothing by default.
	Log zerolog.Logger
	// Now is the clock of this process, time.Now by default.
	Now func() time.Time
}

// New returns the handler. The error wraps prescient.ErrInvalid.
func New(o *ops.Ops, options Options) (http.Handler, error) {
	return front.New(o, front.Options(options), groups(options)...)
}

// groups are the views and deeds, in the order of the navigation.
func groups(o Options) []front.Group {
	all := []front.Group{
		slot.Group(),
		check.Group(),
		bulk.Group(),
		recurring.Group(),
		rules.Group(),
		execs.Group(),
		agents.Group(),
		events.Group(),
		changes.Group(),
		health.Group(),
	}
	if o.Users {
		all = append(all, people.Group())
	}
	return all
}
