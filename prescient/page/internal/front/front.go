package front

import (
	"errors"
	"html/template"
	"net/http"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient/internal/bound"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/look"
)

// ErrNobody is returned by Who where a request does not say who sent it.
var ErrNobody = errors.New("nobody is logged in")

// ErrTooMany is returned by Who where a request is not looked at, as too many came from there.
var ErrTooMany = errors.New("too many requests")

// User is who looks at a page.
type User struct {
	// Name is that of a person, for the page and the audit.
	Name string
	Role ops.Role
	// Anyone says that nobody has signed in: others have the same name, and are told apart by where they are.
	Anyone bool
}

// Options are for New.
type Options struct {
	// BaseURL, Place, Colour and Proxies are those of look.Options.
	BaseURL, Place, Colour string
	Proxies                []netip.Prefix
	// Who says who sent a request; the error wraps ErrNobody for nobody.
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
	Counts *bound.Counts
	// Log gets what failed; nothing by default.
	Log zerolog.Logger
	// Now is the clock of this process, time.Now by default.
	Now func() time.Time
}

// Front serves views and deeds.
type Front struct {
	*look.Site
	ops    *ops.Ops
	o      Options
	mux    *http.ServeMux
	shared *shared[built]
	places *places
	rates  *bound.Rates[sender]
	// downloads are places for those.
	downloads *places
	away      *away
	common    *template.Template
	says      map[string]func(count int) string
}
