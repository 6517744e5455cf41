package execs

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/agent"
	"prescient/prescient/stats"
)

// exec is a job_exec, with what is known of it.
type exec struct {
	Name string
	// Forms are as workers have told of it, that of now first.
	Forms []form
	// Pause is that of itself; nil for none.
	Pause *prescient.Paused
	// Lately is what became of its checks of late, Weeks of those of whole days; both may be empty.
	Lately *stats.Exec
	Weeks  weeks
	Slower []stats.Slower
}

// form is a job_exec as a worker has told of it.
type form struct {
	agent.Exec
	Guards guards
}

// guards are as exec_known has them; durations are in milliseconds.
type guards struct {
	Timeout      int64 `json:"timeout_ms"`
	MaxChecks    int64 `json:"max_checks"`
	MaxErrors    int64 `json:"max_errors"`
	RetryWithin  int64 `json:"retry_within_ms"`
	Horizon      int64 `json:"horizon_ms"`
	ExpiresAfter int64 `json:"expires_after_ms"`
	Endless      bool  `json:"endless"`
	Concurrency  int64 `json:"concurrency"`
	SLA          int64 `json:"sla_ms"`
	Long         *struct {
		Lease int64  `json:"lease_ms"`
		Pool  string `json:"pool"`
	} `json:"long"`
}

// weeks are the sums of some days.
type weeks struct {
	stats.NotYet
	Ends, Calls, Errors uint64
	Repeats             []stats.Repeats
}

func (w *weeks) add(d stats.Day) {
	w.Add(d.NotYet)
	for _, n := range d.Ends {
		w.Ends += n
	}
	w.Calls, w.Errors = w.Calls+d.Calls, w.Errors+d.Errors
	w.Repeats = append(w.Repeats, d.Repeats...)
}

// Named says that it is one: what many have together, beyond those that are counted by themselves, has no name that one can have.
func (e exec) Named() bool { return prescient.ValidIdentifier("job_exec", e.Name) == nil }

// There says that a worker has it now.
func (e exec) There() bool {
	return slices.ContainsFunc(e.Forms, func(f form) bool { return f.There })
}

// Versions is how many forms of it are at work at once: more than one while a new version of a program comes.
func (e exec) Versions() (n int) {
	for _, f := range e.Forms {
		if f.There {
			n++
		}
	}
	return n
}

// Guards are those of the form that was told of last; nil where none was.
func (e exec) Guards() *guards {
	if len(e.Forms) == 0 {
		return nil
	}
	return &e.Forms[0].Guards
}

// Near is how many of the checks of the days neared the guard max_checks.
func (e exec) Near() uint64 {
	g := e.Guards()
	if g == nil || g.Endless {
		return 0
	}
	return stats.Near(e.Weeks.Repeats, g.MaxChecks)
}

// wrong says whether something of it is to be known.
func (e exec) wrong(what string) bool {
	switch what {
	case "paused":
		return e.Pause != nil
	case "slower":
		return len(e.Slower) > 0
	case "near":
		return e.Near() > 0
	case "failing":
		return e.Lately != nil && e.Lately.Errors > 0
	}
	return true
}

// shows are what the list can be narrowed to.
var shows = []string{"paused", "slower", "near", "failing"}

// found is what operations have told.
type found struct {
	forms  []agent.Exec
	pauses []prescient.Paused
	lately []stats.Exec
	slower []stats.Slower
	days   []stats.Day
}

// byName puts together what is of one job_exec; those with most errors of late come first.
func (f found) byName() ([]exec, error) {
	of := make(map[string]*exec)
	at := func(name string) *exec {
		if of[name] == nil {
			of[name] = &exec{Name: name}
		}
		return of[name]
	}
	for _, one := range f.forms {
		is := form{Exec: one}
		if err := json.Unmarshal(one.Guards, &is.Guards); err != nil {
			return nil, fmt.Errorf("reading the guards of %s: %w", one.JobExec, err)
		}
		at(one.JobExec).Forms = append(at(one.JobExec).Forms, is)
	}
	for i, p := range f.pauses {
		if p.JobExec != prescient.AllExecs && p.JobExec != prescient.AllEvents {
			at(p.JobExec).Pause = &f.pauses[i]
		}
	}
	for i, e := range f.lately {
		at(e.JobExec).Lately = &f.lately[i]
	}
	for _, s := range f.slower {
		at(s.JobExec).Slower = append(at(s.JobExec).Slower, s)
	}
	for _, d := range f.days {
		at(d.JobExec).Weeks.add(d)
	}
	all := make([]exec, 0, len(of))
	for _, e := range of {
		slices.SortFunc(e.Forms, func(a, b form) int { return b.SeenAt.Compare(a.SeenAt) })
		all = append(all, *e)
	}
	slices.SortFunc(all, func(a, b exec) int { return cmp.Or(cmp.Compare(b.errors(), a.errors()), cmp.Compare(a.Name, b.Name)) })
	return all, nil
}

func (e exec) errors() uint64 {
	if e.Lately == nil {
		return 0
	}
	return e.Lately.Errors
}

// of are the pauses of more than a job_exec.
func of(pauses []prescient.Paused, name string) *prescient.Paused {
	for i, p := range pauses {
		if p.JobExec == name {
			return &pauses[i]
		}
	}
	return nil
}

// rate is how many there are a minute.
func rate(n uint64, span time.Duration) string {
	if span <= 0 {
		return "–"
	}
	return fmt.Sprintf("%.1f", float64(n)/span.Minutes())
}
