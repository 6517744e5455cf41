package door

import (
	"net/http"

	"github.com/rs/zerolog"

	"prescient/prescient/ops"
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
	// Version of the program, for the description.
	Version string
	// Log gets what went wrong inside; nothing by default.
	Log zerolog.Logger
}

// Defaults of Serving.
const (
	DefaultConcurrent = 32
	DefaultRate       = 20
)
