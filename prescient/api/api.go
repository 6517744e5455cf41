package api

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"prescient/prescient/internal/filled"
	"prescient/prescient/ops"
	"prescient/prescient/ops/door"
)

// Base is the path below which operations are.
const Base = "/api/v1"

// healthPath is where whoever asks is told how the process is.
const healthPath = Base + "/health"

// bodyWithin is how long a body may take to come.
const bodyWithin = 30 * time.Second

// aboutAll is said once, of all operations: of each it would be most of the description.
const aboutAll = `Checks that are due some time later, run at their slot.

What is not done is answered by a problem of RFC 9457: 400 or 422 what is not as described or not allowed, 401 without a valid token, 403 where its role may not,
404 what is not there, 408 and 413 a body that is too slow or too long, 415 one that is not JSON, 409 what meets something else, 429 and 503 with Retry-After what may be sent again later,
504 where the database took too long, 500 what the log of the server has. A list is never null. A number of 64 bits that may pass 2^53 is a string.`

// bodies are how long requests may be: a thousand checks with payloads, or else a definition with one.
func bodies(info ops.Info) int64 {
	if info.ID == "checks.insert" {
		return 8 << 20
	}
	return 2 << 20
}

// Options are for New. They stand in package door, so that who hands New on, as package cmd does, compiles nothing of it.
type Options = door.Serving

// server has operations registered.
type server struct {
	api     huma.API
	o       Options
	exports *places
}

func config(version string) huma.Config {
	c := huma.DefaultConfig("prescient", "1")
	c.Info.Description = aboutAll
	c.CreateHooks = nil                                   // no links to schemas in bodies
	c.OpenAPIPath, c.DocsPath, c.SchemasPath = "", "", "" // no pages that load scripts from elsewhere
	c.Formats = map[string]huma.Format{"application/json": jsonFormat, "json": jsonFormat}
	c.DefaultFormat, c.RejectUnknownQueryParameters = "application/json", true
	c.Transformers = []huma.Transformer{named}
	c.Components.Schemas = schemas()
	c.Components.SecuritySchemes = map[string]*huma.SecurityScheme{"token": {Type: "http", Scheme: "bearer"}}
	c.Security = []map[string][]string{{"token": {}}}
	return c
}

// operation describes an operation to huma.
func operation(info ops.Info, method string) huma.Operation {
	about, _, _ := strings.Cut(info.ID, ".")
	return huma.Operation{OperationID: strings.ReplaceAll(info.ID, ".", "-"), Method: method, Path: Base + "/" + strings.ReplaceAll(info.ID, ".", "/"), Summary: info.Summary,
		Description: described(info), Tags: []string{about}, MaxBodyBytes: bodies(info), DefaultStatus: http.StatusOK,
		Middlewares: huma.Middlewares{allowed(info)}, BodyReadTimeout: bodyWithin}
}

// allowed refuses a caller, or a query, before the body is read: what is wrong with that is for those who may send it.
func allowed(info ops.Info) func(ctx huma.Context, next func(huma.Context)) {
	return func(ctx huma.Context, next func(huma.Context)) {
		err := info.Allow(callerOf(ctx.Context()))
		if err == nil {
			u := ctx.URL()
			err = plainQuery(u.RawQuery, several(ctx.Operation()))
		}
		if err == nil {
			next(ctx)
			return
		}
		p := problemOf(err)
		ctx.SetHeader("Content-Type", p.ContentType(""))
		ctx.SetStatus(p.Status)
		_ = json.NewEncoder(ctx.BodyWriter()).Encode(p) // a reader that is gone is told nothing
	}
}

// several are the parameters that may be given again.
func several(o *huma.Operation) (names []string) {
	for _, p := range o.Parameters {
		if p.Explode != nil && *p.Explode {
			names = append(names, p.Name)
		}
	}
	return names
}

func described(info ops.Info) string {
	text := fmt.Sprintf("Role: %s.", info.Role)
	if info.Shared > 0 {
		text += fmt.Sprintf(" The answer may be %s old: it is shared by all who ask the same with the same role.", info.Shared)
	}
	if info.Secret {
		text += " An Idempotency-Key is refused: there is a secret in it, which is not kept."
	}
	return text
}

// answer is what an operation answers.
type answer[T any] struct {
	Body T
}

// query registers an operation that changes nothing.
func query[In, Out any](a *server, op ops.Operation[In, Out]) {
	huma.Register(a.api, operation(op.Info, http.MethodGet), func(ctx context.Context, in *In) (*answer[Out], error) {
		out, err := op.Do(ctx, a.o.Ops, callerOf(ctx), *in)
		return answered(a, op.Info, out, err)
	})
}

// posted is the request of a deed.
type posted[T any] struct {
	Key    string `header:"Idempotency-Key" maxLength:"128" pattern:"^[!-~]*$" doc:"A text of the caller's own choosing, for this request alone: the same request again gets the same answer, and is not done twice."`
	Reason string `header:"Prescient-Reason" maxLength:"1000" doc:"Why, for the audit."`
	Body   T
}

// deed registers an operation that changes something.
func deed[In, Out any](a *server, op ops.Operation[In, Out]) {
	huma.Register(a.api, operation(op.Info, http.MethodPost), func(ctx context.Context, in *posted[In]) (*answer[Out], error) {
		by := callerOf(ctx)
		by.Key, by.Reason = in.Key, in.Reason
		out, err := op.Do(ctx, a.o.Ops, by, in.Body)
		return answered(a, op.Info, out, err)
	})
}

func answered[Out any](a *server, info ops.Info, out Out, err error) (*answer[Out], error) {
	if err != nil {
		p := problemOf(err)
		if p.Status >= http.StatusInternalServerError {
			a.o.Log.Error().Err(err).Str("operation", info.ID).Msg("a request failed")
		}
		return nil, p
	}
	filled.Lists(&out)
	return &answer[Out]{out}, nil
}
