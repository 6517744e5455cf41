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

// keep is what becomes of a check that cannot be ended: it is put off at growing distances.
func (v *Verdict) keep(grid slots.Grid, job FutureJob, refused error, open, now time.Time) {
	v.Outcome, v.PutOffCount = "", job.PutOffCount+1
	v.Slot = growing(grid, open, job.PutOffCount, now.Add(MaxPutOff))
	v.Reason = ReasonText(prefixed{refused})
}

// prefixed is an error as the last_error of a check that is kept.
type prefixed struct{ error }

func (p prefixed) Error() string { return keptError + strings.TrimPrefix(p.error.Error(), keptError) }
