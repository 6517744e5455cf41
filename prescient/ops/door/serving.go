package door

import (
	"net/http"
	"net/netip"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient/internal/bound"
	"prescient/prescient/ops"
	text "prescient/sql"
)

// Serving is what a handler that does operations for others is made with, such as that of package api.
type Serving struct {
	// Ops does the operations.
	Ops *ops.Ops
	// Authenticate says who asks: that of a Door, or one's own. An error that wraps ops.ErrUnauthorized is answered 401, one that wraps ops.ErrForbidden 403.
	Authenticate func(r *http.Request) (ops.Caller, error)
	// Concurrent is how many requests are done at a time, DefaultConcurrent by default; more are answered 503.
	Concurrent int
	// Rate is how many requests a second each caller may send, DefaultRate by default, in bursts of twice as many; more are answered 429.
	Rate float64
	// Proxies are believed when they say where a request came from; none by default. Authenticate has to know them, too, as a Door does by its Options.
	Proxies []netip.Prefix
	// Counts gets what is turned away; nothing is counted by default.
	Counts *Counts
	// Version of the program, for the description.
	Version string
	// Log gets what went wrong inside; nothing by default.
	Log zerolog.Logger
	// Page is what package login needs for the page; package api has no use for it.
	Page Page
}

// Counts is how many connections and requests were turned away: a collector for a registry of Prometheus, as ops.Options.Metrics.
type Counts = bound.Counts

// NewCounts is for a server.
func NewCounts() *Counts { return bound.NewCounts() }

// Page is how people sign in to the page, and what it is called.
type Page struct {
	// DB is a pool of the account serve-door, on the tables with this Prefix.
	DB      *sqlx.DB
	Prefix  string
	Dialect text.Dialect
	// BaseURL is where browsers find the page, its path included; Place and Colour are the name and the colour of the installation.
	BaseURL, Place, Colour string
	// Open is the role of those who have not signed in; by default they are asked to.
	Open ops.Role
	// Idle is for how long a session may be unused, and Lifetime how long it is good at most.
	Idle, Lifetime time.Duration
	// OIDC is the provider by which others than users sign in.
	OIDC OIDC
}

// OIDC is a provider of OpenID Connect. The zero value is for none.
type OIDC struct {
	// Issuer is the URL below which it describes itself: by https, but on this machine.
	Issuer string
	// ClientID and Secret are what it knows this installation by. The Secret is empty for a public client.
	ClientID, Secret string
	// NameClaim is what names a person: "email" by default. One of an address that the provider has not verified is refused.
	NameClaim string
	// RoleClaim has what Roles are looked up by, a text or a list: "groups" by default. Dots lead into what the claim holds, as in realm_access.roles.
	RoleClaim string
	// Roles are those of the claim's values, "*" for everybody. Of several the highest counts; who has none does not sign in.
	Roles map[string]ops.Role
}

// Defaults of Serving.
const (
	DefaultConcurrent = 32
	DefaultRate       = 20
)
