package prescient

import (
	"strings"
	"time"

	"prescient/slots"
)

// keptError begins the last_error of a check that the server refuses to end.
const keptError = "not called any more, since it cannot be ended: "

// IsKept says whether a check is one that has used up its errors, or ended otherwise, and that the server refuses to end: a foreign key of the app
// keeps its row, or a trigger. It is not called. Whoever meets it tries to end it, as failed.
func IsKept(job FutureJob) bool {
	return job.PutOffCount > 0 && strings.HasPrefix(job.LastError, keptError)
}

// Kept is what becomes of a check that cannot be ended, since the server has refused that: it is put off at growing distances.
func Kept(grid slots.Grid, job FutureJob, refused error, now time.Time) Verdict {
	return Verdict{Reason: ReasonText(prefixed{refused}), Slot: growing(grid, openSlot(grid, job.NextCheckAt, now), job.PutOffCount, now.Add(MaxPutOff)),
		DueAt: job.DueAt, CheckCount: job.CheckCount, ErrorCount: job.ErrorCount, PutOffCount: job.PutOffCount + 1}
}

// prefixed is an error as the last_error of a check that is kept.
type prefixed struct{ error }

func (p prefixed) Error() string { return keptError + strings.TrimPrefix(p.error.Error(), keptError) }
