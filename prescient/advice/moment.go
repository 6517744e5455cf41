package advice

import (
	"cmp"
	"errors"
	"fmt"
	"time"

	"prescient/prescient"
)

// Asked is what is asked where somebody waits for the answer.
type Asked struct {
	From         time.Time `query:"from" doc:"Checks inserted at this time or later, four weeks before the end by default."`
	Before       time.Time `query:"before" doc:"Checks inserted before this time, now by default."`
	JobExec      string    `query:"job_exec" required:"true" doc:"The job_exec of the checks."`
	Entity       string    `query:"entity_name" doc:"Only this kind of entity; by default that of most checks is advised, and the others are named, up to 100."`
	LateMS       int64     `query:"late_ms" minimum:"0" maximum:"316224000000" doc:"How late what happened may be found, on average; 0 for as late as now."`
	OtherCancels bool      `query:"other_cancels" doc:"A cancel says nothing of whether it happened; by default it says that it did just then."`
}

// Usual is of how long a time checks are looked at by default.
const Usual = 28 * 24 * time.Hour

// What a moment's advice is from, at most: to estimate of twice as many checks takes twice as long.
const momentEnds, momentChecks = 20_000, 1_000

// Options fills in what is asked, and how much is read and made use of in a moment: within is for history and what is pending together. The error wraps
// prescient.ErrInvalid.
func (a Asked) Options(o Options, within time.Duration) (Options, error) {
	if err := errors.Join(prescient.ValidIdentifier("job_exec", a.JobExec), prescient.ValidIdentifier("entity_name", cmp.Or(a.Entity, "any"))); err != nil {
		return o, err
	}
	late := time.Duration(a.LateMS) * time.Millisecond
	if late < 0 || late > prescient.MaxHorizon {
		return o, fmt.Errorf("%w: late_ms %d: 0 to %d is allowed", prescient.ErrInvalid, a.LateMS, prescient.MaxHorizon.Milliseconds())
	}
	o.JobExec, o.Entity, o.OtherCancels, o.Question.Late = a.JobExec, a.Entity, a.OtherCancels, late
	o.Within, o.Most, o.MostChecks, o.MostGroups = within/2, momentEnds, momentChecks, 1
	return o, nil
}
