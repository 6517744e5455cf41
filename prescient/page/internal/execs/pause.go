package execs

import (
	"context"

	"prescient/prescient"
	"prescient/prescient/agent"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/stats"
)

// pauseSeen is what the templates of the deeds get.
type pauseSeen struct {
	Name  string
	Of    string // all, events, or empty for one job_exec
	Pause *prescient.Paused
	Forms []agent.Exec // as workers have told of it
	// Lately is what became of its checks of late; nil for nothing.
	Lately *stats.Exec
}

// askPause looks for what is to be paused, or resumed.
func askPause(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := pauseSeen{Name: a.Text("job_exec")}
	switch is.Name {
	case prescient.AllExecs:
		is.Of = "all"
	case prescient.AllEvents:
		is.Of = "events"
	default:
		if err := prescient.ValidIdentifier("job_exec", is.Name); err != nil {
			return front.Shown{}, err
		}
		forms, err := ops.ListExecs.Do(ctx, a.Ops, a.By, ops.ExecsAsked{ExecAsked: ops.ExecAsked{JobExec: is.Name}, Paging: ops.Paging{Limit: mostForms}})
		if err != nil {
			return front.Shown{}, err
		}
		lately, err := ops.StatsOfExecs.Do(ctx, a.Ops, a.By, ops.StatsAsked{JobExec: is.Name})
		if err != nil {
			return front.Shown{}, err
		}
		if is.Forms = forms.Rows; len(lately.Execs) > 0 {
			is.Lately = &lately.Execs[0]
		}
	}
	pauses, err := ops.ListPauses.Do(ctx, a.Ops, a.By, ops.Nothing{})
	if err != nil {
		return front.Shown{}, err
	}
	is.Pause = of(pauses.Rows, is.Name)
	return front.Shown{Data: is}, nil
}

// then is what is shown once something was paused or resumed.
func then(name string, count int) front.Done {
	switch name {
	case prescient.AllEvents:
		return front.Done{Path: "/events", Count: count}
	case prescient.AllExecs:
		return front.Done{Path: "/execs", Count: count}
	}
	return front.Done{Path: "/exec", Query: []string{"job_exec", name}, Count: count} // which says of what it was
}

func pause(ctx context.Context, d front.Doing) (front.Done, error) {
	name := d.Text("job_exec")
	did, err := ops.SetPauses.Do(ctx, d.Ops, d.By, ops.Pausing{JobExecs: []string{name}})
	return then(name, did.Count), err
}

func resume(ctx context.Context, d front.Doing) (front.Done, error) {
	name := d.Text("job_exec")
	did, err := ops.LiftPauses.Do(ctx, d.Ops, d.By, ops.Lifting{JobExecs: []string{name}})
	return then(name, did.Count), err
}
