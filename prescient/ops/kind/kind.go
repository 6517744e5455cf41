package kind

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"prescient/prescient"
	"prescient/prescient/bulk"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/forecast"
	"prescient/prescient/ops"
	"prescient/prescient/rulebook"
	"prescient/prescient/schedule"
	"prescient/prescient/stats"
	"prescient/prescient/steps"
)

// Kind is what an error of an operation is to its caller, at whichever door.
type Kind struct {
	// Name is that of the Go error, as in ErrNotFound; empty where callers do not tell it from others.
	Name string
	// Title says what happened, Detail more of it: nothing of what the server said, which may have others' statements in it.
	Title, Detail string
	// Status is that of HTTP.
	Status int
	// Again says that the same may go well in a moment.
	Again bool
	// Away says that the database does not answer.
	Away bool
}

// told are the errors that callers tell apart. Of several that an error wraps the first counts.
var told = []struct {
	err    error
	name   string
	status int
}{
	{ops.ErrForbidden, "ErrForbidden", http.StatusForbidden},
	{ops.ErrUnauthorized, "ErrUnauthorized", http.StatusUnauthorized}, // in the middle of an export
	{ops.ErrKeyUsed, "ErrKeyUsed", http.StatusUnprocessableEntity},
	{ops.ErrUnderWay, "ErrUnderWay", http.StatusConflict},
	{prescient.ErrBeyondHorizon, "ErrBeyondHorizon", http.StatusUnprocessableEntity},
	{prescient.ErrPending, "ErrPending", http.StatusConflict},
	{prescient.ErrKeyCollision, "ErrKeyCollision", http.StatusConflict},
	{prescient.ErrNotFound, "ErrNotFound", http.StatusNotFound},
	{schedule.ErrNotFound, "ErrNotFound", http.StatusNotFound},
	{steps.ErrNotFound, "ErrNotFound", http.StatusNotFound},
	{rulebook.ErrNotFound, "ErrNotFound", http.StatusNotFound},
	{ops.ErrNoToken, "ErrNotFound", http.StatusNotFound},
	{ops.ErrNoUser, "ErrNotFound", http.StatusNotFound},
	{ops.ErrUserExists, "ErrExists", http.StatusConflict},
	{schedule.ErrExists, "ErrExists", http.StatusConflict},
	{steps.ErrExists, "ErrExists", http.StatusConflict},
	{rulebook.ErrExists, "ErrExists", http.StatusConflict},
	{schedule.ErrOfJob, "ErrOfJob", http.StatusConflict},
	{schedule.ErrStale, "ErrStale", http.StatusConflict},
	{steps.ErrStale, "ErrStale", http.StatusConflict},
	{rulebook.ErrStale, "ErrStale", http.StatusConflict},
	{rulebook.ErrFixed, "ErrFixed", http.StatusConflict},
	{rulebook.ErrTooMany, "ErrTooMany", http.StatusConflict},
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

// Names are those that a Kind may have, in their order.
func Names() []string {
	var names []string
	for _, k := range told {
		names = append(names, k.name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// statusGone is what a log has for a caller that did not wait.
const statusGone = 499

// Of says what an error is. What it does not know is for the log of the door alone.
func Of(err error) Kind {
	for _, k := range told {
		if errors.Is(err, k.err) {
			return Kind{Name: k.name, Title: k.err.Error(), Detail: err.Error(), Status: k.status, Again: k.status == http.StatusServiceUnavailable || errors.Is(err, ops.ErrUnderWay)}
		}
	}
	switch {
	case client.BeginAgain(err):
		return Kind{Title: "Locked", Detail: "others have locked what this is about; send it again", Status: http.StatusConflict, Again: true}
	case errors.Is(err, context.DeadlineExceeded):
		return Kind{Title: "Timed out", Detail: "the database did not answer in time", Status: http.StatusGatewayTimeout, Again: true, Away: true}
	case errors.Is(err, context.Canceled):
		return Kind{Title: "Cancelled", Detail: "the request was cancelled", Status: statusGone}
	case connect.IsUnreachable(err):
		return Kind{Title: "Unavailable", Detail: "the database cannot be reached", Status: http.StatusServiceUnavailable, Again: true, Away: true}
	}
	return Kind{Title: "Internal error", Detail: "the log of the server has the reason", Status: http.StatusInternalServerError}
}
