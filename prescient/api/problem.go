package api

import (
	"encoding/json"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"prescient/prescient"
	"prescient/prescient/ops/kind"
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

// problemOf says what an error is to the caller. What is not known may have statements of the server's in it: the log has that.
func problemOf(err error) problem {
	is := kind.Of(err)
	p := problem{Type: blank, Title: is.Title, Status: is.Status, Detail: is.Detail}
	if is.Name != "" {
		p.Type = urn + is.Name
	}
	if is.Again {
		p.retryAfter = time.Second
	}
	return p
}

// problemTypes are the types that a problem may have, and their names.
func problemTypes() (types []any, names []string) {
	names = kind.Names()
	for _, name := range names {
		types = append(types, urn+name)
	}
	return append(types, blank), append(names, "Other")
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
