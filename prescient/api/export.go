package api

import (
	"context"
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
)

const exportText = `The answer is a stream, which is read as it is taken: each row is as it was when its part was read. A reader that takes nothing for 30 seconds is cut off.
What is whole ends with the trailer Prescient-Rows, the number of its rows. What cannot be read to its end breaks off without the end of its body, which clients
take for an error; JSON lines have a last line {"problem": …} before that. In CSV a text that a spreadsheet may take for a formula begins with an apostrophe.`

// exportAsked is what is asked of an export.
type exportAsked interface{ As() ops.Format }

// export registers an operation that streams rows.
func export[In exportAsked, Row interface{ Cursor() string }](a *server, op ops.Export[In, Row]) {
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
			_, w := humago.Unwrap(c)
			if err := stream.Write(ctx, w, op.ID, (*in).As(), chunks, func(err error) any { return map[string]problem{"problem": problemOf(err)} }); err != nil {
				a.o.Log.Warn().Err(err).Str("operation", op.ID).Msg("an export was cut off")
				panic(http.ErrAbortHandler) // the body has no end then
			}
		}}, nil
	})
}
