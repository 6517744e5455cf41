package front

import (
	"errors"
	"html/template"
	"net/http"
	"net/netip"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient/ops"
	"prescient/prescient/page/internal/look"
)

// ErrNobody is returned by Who where a request does not say who sent it.
var ErrNobody = errors.New("nobody is logged in")

// User is who looks at a page.
type User struct {
	// Name is that of a person, for the page and the audit.
	Name string
	Role ops.Role
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
	// Concurrent is how many looks and deeds are under way at a time; 16 by default.
	Concurrent int
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
	// downloads are places for those.
	downloads *places
	away      *away
	common    *template.Template
	says      map[string]func(count int) string
}
