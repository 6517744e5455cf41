package api

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"prescient/prescient"
	"prescient/prescient/bulk"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/forecast"
	"prescient/prescient/ops"
	"prescient/prescient/schedule"
	"prescient/prescient/stats"
	"prescient/prescient/steps"
)

// problem is an error as RFC 9457 has it. It is what huma answers and, before huma, the guard.
type problem struct {
	Type   string `json:"type" doc:"Names the kind of error: urn:prescient:error: and the name of the Go error, or about:blank."`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail,omitempty" doc:"What is wrong, and what is allowed."`
	// Errors are those of a request that is not as described, one for each place.
	Errors []place `json:"errors,omitempty"`

	retryAfter time.Duration
}

// maxPlaces is how many places a problem names.
const maxPlaces = 100

// place is where a request is not as described.
type place struct {
	Location string `json:"location"`
	Message  string `json:"message"`
}

// Error, GetStatus and ContentType make a problem an error of huma's.
func (p problem) Error() string             { return p.Detail }
func (p problem) GetStatus() int            { return p.Status }
func (p problem) ContentType(string) string { return "application/problem+json" }
func (p problem) GetHeaders() http.Header {
	if p.retryAfter == 0 {
		return nil
	}
	return http.Header{"Retry-After": {strconv.Itoa(int(p.retryAfter.Seconds()))}}
}

const (
	blank = "about:blank"
	urn   = "urn:prescient:error:"
)

// sentinels are the errors that callers tell apart. Of several that an error wraps the first counts.
var sentinels = []struct {
	err    error
	name   string
	status int
}{
	{ops.ErrForbidden, "ErrForbidden", http.StatusForbidden},
	{ops.ErrKeyUsed, "ErrKeyUsed", http.StatusUnprocessableEntity},
	{ops.ErrUnderWay, "ErrUnderWay", http.StatusConflict},
	{prescient.ErrBeyondHorizon, "ErrBeyondHorizon", http.StatusUnprocessableEntity},
	{prescient.ErrPending, "ErrPending", http.StatusConflict},
	{prescient.ErrKeyCollision, "ErrKeyCollision", http.StatusConflict},
	{prescient.ErrNotFound, "ErrNotFound", http.StatusNotFound},
	{schedule.ErrNotFound, "ErrNotFound", http.StatusNotFound},
	{steps.ErrNotFound, "ErrNotFound", http.StatusNotFound},
	{ops.ErrNoToken, "ErrNotFound", http.StatusNotFound},
	{ops.ErrNoUser, "ErrNotFound", http.StatusNotFound},
	{ops.ErrUserExists, "ErrExists", http.StatusConflict},
	{schedule.ErrExists, "ErrExists", http.StatusConflict},
	{steps.ErrExists, "ErrExists", http.StatusConflict},
	{schedule.ErrOfJob, "ErrOfJob", http.StatusConflict},
	{steps.ErrStale, "ErrStale", http.StatusConflict},
	{steps.ErrInUse, "ErrInUse", http.StatusConflict},
	{stats.ErrBusy, "ErrBusy", http.StatusConflict},
	{forecast.ErrNone, "ErrNone", http.StatusNotFound},
	{bulk.ErrNotFound, "ErrNotFound", http.StatusNotFound},
	{bulk.ErrToken, "ErrToken", http.StatusConflict},
	{prescient.ErrInvalid, "ErrInvalid", http.StatusUnprocessableEntity},
	{prescient.ErrReslotting, "ErrReslotting", http.StatusServiceUnavailable},
	{prescient.ErrConfigChanged, "ErrConfigChanged", http.StatusServiceUnavailable},
	{prescient.ErrNotMigrated, "ErrNotMigrated", http.StatusServiceUnavailable},
}

// problemOf says what an error is to the caller. What it does not know may have statements of the server's in it: the log has that.
func problemOf(err error) problem {
	for _, k := range sentinels {
		if errors.Is(err, k.err) {
			p := problem{Type: urn + k.name, Title: k.err.Error(), Status: k.status, Detail: err.Error()}
			if k.status == http.StatusServiceUnavailable || errors.Is(err, ops.ErrUnderWay) {
				p.retryAfter = time.Second
			}
			return p
		}
	}
	switch {
	case client.BeginAgain(err):
		return problem{Type: blank, Title: "Locked", Status: http.StatusConflict, Detail: "others have locked what this is about; send it again", retryAfter: time.Second}
	case errors.Is(err, context.DeadlineExceeded):
		return problem{Type: blank, Title: "Timed out", Status: http.StatusGatewayTimeout, Detail: "the database did not answer in time", retryAfter: time.Second}
	case errors.Is(err, context.Canceled):
		return problem{Type: blank, Title: "Cancelled", Status: 499, Detail: "the request was cancelled"}
	case connect.IsUnreachable(err):
		return problem{Type: blank, Title: "Unavailable", Status: http.StatusServiceUnavailable, Detail: "the database cannot be reached", retryAfter: time.Second}
	}
	return problem{Type: blank, Title: "Internal error", Status: http.StatusInternalServerError, Detail: "the log of the server has the reason"}
}

// problems are the states that an operation may answer, beside that of success.
func problems(info ops.Info) []int {
	all := []int{http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusInternalServerError, http.StatusServiceUnavailable}
	if info.Deed {
		all = append(all, http.StatusConflict, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType)
	}
	return all
}

// named makes a problem of what huma itself refuses.
func named(_ huma.Context, _ string, v any) (any, error) {
	m, ok := v.(*huma.ErrorModel)
	if !ok {
		return v, nil
	}
	p := problem{Type: blank, Title: m.Title, Status: m.Status, Detail: m.Detail}
	if m.Status == http.StatusUnprocessableEntity || m.Status == http.StatusBadRequest {
		p.Type, p.Title = urn+"ErrInvalid", prescient.ErrInvalid.Error()
	}
	for _, e := range m.Errors[:min(len(m.Errors), maxPlaces)] {
		p.Errors = append(p.Errors, place{e.Location, e.Message})
	}
	return p, nil
}

// write answers a problem, where huma has no part in it.
func write(w http.ResponseWriter, p problem) {
	for name, values := range p.GetHeaders() {
		w.Header()[name] = values
	}
	w.Header().Set("Content-Type", "application/problem+json")
	w.WriteHeader(p.Status)
	_ = json.NewEncoder(w).Encode(p) // a reader that is gone is told nothing
}
