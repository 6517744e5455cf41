package apiclient

import (
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// Error is a problem that the API answered. errors.Is tells it by its type: errors.Is(err, apiclient.ProblemTypeErrNotFound).
type Error struct {
	Problem
	// RetryAfter is after how long the request may be sent again; 0 where sending it again does not help.
	RetryAfter time.Duration
}

// Error says what was wrong, and where.
func (e *Error) Error() string {
	text := strconv.FormatInt(e.Status, 10) + " " + e.Title
	if e.Detail != "" {
		text += ": " + e.Detail
	}
	var b strings.Builder
	b.WriteString(text)
	for _, place := range e.Errors {
		fmt.Fprintf(&b, "; %s: %s", place.Location, place.Message)
	}
	return b.String()
}

// Is says whether the problem has a type.
func (e *Error) Is(target error) bool { return target == e.Type }

// Error makes a type of problems something to tell errors by.
func (t ProblemType) Error() string { return string(t) }

// maxProblem is how much of a problem is read, maxSaid how much of what is none is told.
const (
	maxProblem = 1 << 20
	maxSaid    = 200
)

// errorOf is the error of an answer that is none. What stands between here and the API may have answered, too: that is a problem without a type.
func errorOf(resp *http.Response) error {
	e := &Error{}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxProblem))
	if kind, _, _ := mime.ParseMediaType(resp.Header.Get("Content-Type")); kind != "application/problem+json" || err != nil || json.Unmarshal(text, &e.Problem) != nil {
		e.Problem = Problem{Type: ProblemTypeOther, Title: http.StatusText(resp.StatusCode), Detail: string(text[:min(len(text), maxSaid)])}
	}
	e.Status = int64(resp.StatusCode)
	if seconds, err := strconv.ParseUint(resp.Header.Get("Retry-After"), 10, 31); err == nil {
		e.RetryAfter = time.Duration(seconds) * time.Second
	}
	return e
}
