package api

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"prescient/prescient"
	"prescient/prescient/ops"
)

func (a *server) answers() {
	query(a, ops.GetClock)
	query(a, ops.LoadSlots)
	query(a, ops.ListLedger)
	query(a, ops.GetForecast)
	query(a, ops.StatsOfExecs)
	query(a, ops.StatsPercentiles)
	query(a, ops.StatsDays)
	query(a, ops.StatsSlower)
	query(a, ops.ListExecs)
	query(a, ops.AdviseExec)
	query(a, ops.Examine)
	query(a, ops.Attest)
	query(a, ops.Status)
	query(a, ops.Blocking)
	query(a, ops.GetLife)
	export(a, ops.ExportPending)
	export(a, ops.ExportEnded)
	a.metrics()
	a.health()
}

// metrics are written as Prometheus asks for them.
func (a *server) metrics() {
	o := operation(ops.ReadMetrics.Info, http.MethodGet)
	o.Responses = map[string]*huma.Response{"200": {Description: "The text format of Prometheus, or OpenMetrics where it is asked for.", Content: map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: "string"}}}}}
	huma.Register(a.api, o, func(ctx context.Context, _ *struct{}) (*huma.StreamResponse, error) {
		seen, err := ops.ReadMetrics.Do(ctx, a.o.Ops, callerOf(ctx), struct{}{})
		if err != nil {
			_, err = answered(a, ops.ReadMetrics.Info, seen, err)
			return nil, err
		}
		return &huma.StreamResponse{Body: func(c huma.Context) {
			r, w := humago.Unwrap(c)
			promhttp.HandlerFor(seen, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}).ServeHTTP(w, r)
		}}, nil
	})
}

// healthy is the answer of a process that is well.
type healthy struct {
	Status string `json:"status" enum:"ok"`
}

// health is no operation: it has no caller.
func (a *server) health() {
	type asked struct {
		Ready bool `query:"ready" doc:"Say also whether the database answers and the tables are migrated."`
	}
	huma.Register(a.api, huma.Operation{OperationID: "health", Method: http.MethodGet, Path: healthPath, Summary: "Say whether the process answers.", Tags: []string{"health"},
		Description: "Everybody may ask, without a token. What was seen of the database is remembered for 5 seconds.", Security: []map[string][]string{{}}},
		func(_ context.Context, in *asked) (*answer[healthy], error) {
			if in.Ready {
				if err := a.o.Ops.Ready(); err != nil {
					a.o.Log.Error().Err(err).Msg("not ready")
					return nil, notReady(err)
				}
			}
			return &answer[healthy]{healthy{"ok"}}, nil
		})
}

// notReady tells whoever asks, who may be anybody, that it is so, and the log why.
func notReady(err error) problem {
	p := problem{Type: problemOf(err).Type, Title: ops.ErrNotReady.Error(), Status: http.StatusServiceUnavailable, retryAfter: time.Second}
	switch {
	case errors.Is(err, prescient.ErrNotMigrated):
		p.Detail = "the tables are not migrated to what this program needs"
	case errors.Is(err, prescient.ErrReslotting):
		p.Detail = "the resolution of the slots is being changed"
	default:
		p.Detail = "the database does not answer as it should"
	}
	return p
}
