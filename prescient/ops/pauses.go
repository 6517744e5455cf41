package ops

import (
	"cmp"
	"context"

	"prescient/prescient"
)

// Nothing is asked of what needs no question.
type Nothing struct{}

// ListPauses lists what is paused.
var ListPauses = query("pauses.list", Viewer, "List what is paused.", func(ctx context.Context, q asked, _ Nothing) (Page[prescient.Paused], error) {
	rows, err := q.client.Pauses(ctx, q.db)
	return Page[prescient.Paused]{Rows: rows}, err
})

// Pausing says what to pause.
type Pausing struct {
	JobExecs []string `json:"job_execs" minItems:"1" maxItems:"100" doc:"Names of job_execs; * is everything, *events what forwarders publish."`
	Reason   string   `json:"reason,omitempty" maxLength:"1000" doc:"Why, for all who see the pause; by default that of the request."`
}

// SetPauses pauses job_execs, events or everything.
var SetPauses = deed("pauses.set", Operator, "Pause job_execs, events or everything, until the pause is lifted.", func(ctx context.Context, d doing, in Pausing) (Counted, error) {
	for _, name := range in.JobExecs {
		err := d.client.Pause(ctx, d.tx, prescient.Paused{JobExec: name, By: d.by.Name, Reason: cmp.Or(in.Reason, d.by.Reason)})
		if err != nil {
			return Counted{}, err
		}
	}
	return Counted{len(in.JobExecs)}, nil
})

// Lifting says which pauses to lift.
type Lifting struct {
	JobExecs []string `json:"job_execs" minItems:"1" maxItems:"100" doc:"What was paused: names of job_execs, * or *events. That one of them is not paused is no error."`
}

// LiftPauses ends pauses.
var LiftPauses = deed("pauses.lift", Operator, "Lift pauses; it says how many there were.", func(ctx context.Context, d doing, in Lifting) (Counted, error) {
	n, err := d.client.Resume(ctx, d.tx, in.JobExecs...)
	return Counted{n}, err
})
