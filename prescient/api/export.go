package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	"prescient/prescient/ops"
	"prescient/prescient/ops/stream"
)

const (
	// exportsAtATime is how many exports are under way, and exportsEach how many of a caller; more are answered 503 and 429.
	exportsAtATime = 4
	exportsEach    = 2
	// lookAgain is how often it is looked whether the caller is still let in.
	lookAgain = 10 * time.Second
)

const exportText = `The answer is a stream, which is read as it is taken: each row is as it was when its part was read. A reader that takes nothing for 30 seconds is cut off.
What is whole ends with the trailer Prescient-Rows, the number of its rows. What cannot be read to its end breaks off without the end of its body, which clients
take for an error; JSON lines have a last line {"problem": …} before that. In CSV an apostrophe stands before what a spreadsheet may take for a formula.`

// export registers an operation that streams rows.
func export[In ops.Formatted, Row interface{ Cursor() string }](a *server, op ops.Export[In, Row]) {
	o := operation(op.Info, http.MethodGet)
	o.Description += " " + exportText
	o.Responses = map[string]*huma.Response{"200": {Description: "The rows.", Content: map[string]*huma.MediaType{
		"application/jsonl": {Schema: a.api.OpenAPI().Components.Schemas.Schema(reflect.TypeFor[Row](), true, "")}, "text/csv": {Schema: &huma.Schema{Type: "string"}}}}}
	huma.Register(a.api, o, func(ctx context.Context, in *In) (*huma.StreamResponse, error) {
		by := callerOf(ctx)
		leave, own := a.exports.take(by)
		switch {
		case own:
			return nil, problem{Type: blank, Title: "Too many requests", Status: http.StatusTooManyRequests, Detail: "this caller has as many exports under way as it may", retryAfter: time.Minute}
		case leave == nil:
			return nil, problem{Type: blank, Title: "Busy", Status: http.StatusServiceUnavailable, Detail: "as many exports as are done at a time are under way", retryAfter: time.Minute}
		}
		chunks, err := ops.Begin(ctx, op, a.o.Ops, by, *in)
		if err != nil {
			leave()
			_, err = answered(a, op.Info, struct{}{}, err)
			return nil, err
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			defer leave()
			r, w := humago.Unwrap(c)
			still := stream.Every(lookAgain, time.Now, func() error { return stillIs(a.o.Authenticate, r, by) })
			if err := stream.Write(ctx, w, stream.Export[Row]{ID: op.ID, As: (*in).As(), Next: chunks.Next, Still: still, Problem: lastLine}); err != nil {
				a.o.Log.Warn().Err(err).Str("operation", op.ID).Msg("an export was cut off")
				panic(http.ErrAbortHandler) // the body has no end then
			}
		}}, nil
	})
}

// stillIs fails where who sent a request is not let in any more, or is another by now. What cannot be looked up goes on.
func stillIs(authenticate func(*http.Request) (ops.Caller, error), r *http.Request, by ops.Caller) error {
	is, err := authenticate(r)
	switch {
	case errors.Is(err, ops.ErrUnauthorized), errors.Is(err, ops.ErrForbidden):
		return err
	case err == nil && (whoIs(is) != whoIs(by) || is.Role != by.Role):
		return fmt.Errorf("%w: the caller is another by now", ops.ErrUnauthorized)
	}
	return nil
}

// lastLine is the last line of an export in JSON lines that is not whole.
func lastLine(err error) any { return map[string]problem{"problem": problemOf(err)} }
