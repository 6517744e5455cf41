package steps

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"prescient/prescient"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
)

// Exec is the job_exec of the runs of jobs, which [Jobs.Register] registers.
const Exec = reserved.StepsExec

// What is allowed.
const (
	// MaxSteps is how many steps a job has at most.
	MaxSteps = 100
	// MaxArguments is how long the arguments of a step may be, in bytes of JSON.
	MaxArguments = 64 << 10
	// MaxRetries is how often a step may be tried again.
	MaxRetries = 1000
	// MaxName is how long the name of a job or a step may be.
	MaxName = 64
	// longestTime bounds Timeout and RetryWait.
	longestTime = 366 * 24 * time.Hour
	// mostHeld is how long a run holds its place where an error says when to try again, unless RetryWait is longer.
	mostHeld = time.Minute
)

// DefaultRetryWait is how long a step waits before it is tried again, unless it says otherwise.
const DefaultRetryWait = 10 * time.Second

// OnFailure says what becomes of a run whose step has failed for good.
type OnFailure string

// The ways.
const (
	// Stop ends the run as failed. The default.
	Stop OnFailure = "stop"
	// Continue goes on with the next step. The run ends as done then, and its log says which steps failed.
	Continue OnFailure = "continue"
)

// Job is what runs its steps, and when. Zero fields have the defaults that they name.
type Job struct {
	// Name is an identifier of up to MaxName characters: letters, digits and _ . -
	Name string
	// Crontabs say when it runs: whenever one of them does.
	Crontabs []string
	// Zone is the IANA name of the zone in which their fields are local times; UTC by default.
	Zone string
	// Steps are taken in order: 1 to MaxSteps, each with another name.
	Steps []Step
	// These are as in schedule.Schedule.
	CatchUp       schedule.CatchUp
	CatchUpWithin time.Duration
	ExpiresAfter  time.Duration
	Jitter        time.Duration
	MayCoalesce   bool
	Overlap       longrun.Overlap
	Tolerance     time.Duration
	Quota         time.Duration
	// Pool is whose agents may have its runs; all by default.
	Pool string
	// Heartbeat is as in schedule.Schedule.
	Heartbeat string
}

// Step is a job_exec and its arguments.
type Step struct {
	// Name is an identifier of up to MaxName characters.
	Name string
	// Shared says that it is the shared step of this name; all other fields are empty then, and come from there.
	Shared bool
	// JobExec is the name of a job_exec, which the agents have to have.
	JobExec string
	// Arguments are JSON, the payload of the call; nil for none.
	Arguments json.RawMessage
	// Timeout bounds one call, in whole milliseconds; by default that of the guards of the job_exec, of which a long run may have none.
	Timeout time.Duration
	// Retries is how often it is tried again after a failure; 0, the default, for never.
	Retries int
	// RetryWait is how long it waits before that, in whole milliseconds; DefaultRetryWait by default. The run holds its place meanwhile. An error
	// that says so by prescient.Retry has it wait that long; where that is longer than RetryWait and than a minute, without its place, until a slot.
	RetryWait time.Duration
	// OnFailure says what comes after the last failure; Stop by default.
	OnFailure OnFailure
}

// Validate returns an error that wraps prescient.ErrInvalid and names what is wrong, and what is allowed; a prescient.FieldError in it
// names the field. Whether crontabs are finer than slots is for Create to say, and whether there are such shared steps.
func (j Job) Validate() error {
	if err := validName("name of a job", j.Name); err != nil {
		return prescient.InField("name", err)
	}
	if len(j.Steps) == 0 || len(j.Steps) > MaxSteps {
		return prescient.InField("steps", fmt.Errorf("%w: job %q has %d steps; 1 to %d are allowed", prescient.ErrInvalid, j.Name, len(j.Steps), MaxSteps))
	}
	var wrong []error
	seen := make(map[string]int, len(j.Steps))
	for i, step := range j.Steps {
		err := step.validate()
		if first := seen[step.Name]; err == nil && first != 0 {
			err = prescient.InField("name", fmt.Errorf("%w: step %d has the name %q too", prescient.ErrInvalid, first, step.Name))
		}
		if err != nil {
			wrong = append(wrong, prescient.InField(fmt.Sprintf("steps[%d]", i), fmt.Errorf("job %q, step %d: %w", j.Name, i+1, err)))
		}
		seen[step.Name] = i + 1
	}
	if err := errors.Join(wrong...); err != nil {
		return err
	}
	if err := j.schedule().Validate(); err != nil {
		return fmt.Errorf("job %q: %w", j.Name, err)
	}
	return nil
}

// Validate returns an error that wraps prescient.ErrInvalid and names what is wrong, and what is allowed, for a step that is to be shared.
func (s Step) Validate() error {
	if s.Shared {
		return fmt.Errorf("%w: step %q defines a shared step; it cannot refer to another", prescient.ErrInvalid, s.Name)
	}
	return s.validate()
}

func (s Step) validate() error {
	if err := validName("name of a step", s.Name); err != nil {
		return prescient.InField("name", err)
	}
	if s.Shared {
		if !s.same(Step{Name: s.Name, Shared: true}) {
			return fmt.Errorf("%w: step %q is shared and may have a name only; all else is in the definition of the shared step", prescient.ErrInvalid, s.Name)
		}
		return nil
	}
	field, err := "exec", prescient.ValidIdentifier("job_exec", s.JobExec)
	switch {
	case s.JobExec == "":
		field, err = "exec", fmt.Errorf("%w: step %q has no job_exec", prescient.ErrInvalid, s.Name)
	case s.JobExec == reserved.StepsExec || s.JobExec == reserved.TimerExec:
		field, err = "exec", fmt.Errorf("%w: job_exec %q of step %q is kept for jobs and timers", prescient.ErrInvalid, s.JobExec, s.Name)
	case len(s.Arguments) > MaxArguments:
		field, err = "arguments", fmt.Errorf("%w: arguments of step %q have %d bytes; at most %d are allowed", prescient.ErrInvalid, s.Name, len(s.Arguments), MaxArguments)
	case s.Arguments != nil && (!json.Valid(s.Arguments) || !utf8.Valid(s.Arguments)):
		field, err = "arguments", fmt.Errorf("%w: arguments of step %q are not JSON: %.80q", prescient.ErrInvalid, s.Name, s.Arguments)
	case s.Retries < 0 || s.Retries > MaxRetries:
		field, err = "retries", fmt.Errorf("%w: retries %d of step %q: 0 to %d are allowed", prescient.ErrInvalid, s.Retries, s.Name, MaxRetries)
	case s.RetryWait != 0 && s.Retries == 0:
		field, err = "retry_wait", fmt.Errorf("%w: step %q has a retry_wait, but no retries", prescient.ErrInvalid, s.Name)
	case s.OnFailure != "" && s.OnFailure != Stop && s.OnFailure != Continue:
		field, err = "on_failure", fmt.Errorf("%w: on_failure %q of step %q: %s and %s are allowed", prescient.ErrInvalid, s.OnFailure, s.Name, Stop, Continue)
	}
	if err != nil {
		return prescient.InField(field, err)
	}
	for _, of := range []struct {
		name string
		is   time.Duration
	}{{"timeout", s.Timeout}, {"retry_wait", s.RetryWait}} {
		if of.is < 0 || of.is > longestTime || of.is%time.Millisecond != 0 {
			return prescient.InField(of.name, fmt.Errorf("%w: %s %s of step %q: whole milliseconds up to %s are allowed",
				prescient.ErrInvalid, of.name, of.is, s.Name, longestTime))
		}
	}
	return nil
}

func validName(what, name string) error {
	if name == "" {
		return fmt.Errorf("%w: %s is empty", prescient.ErrInvalid, what)
	}
	if len(name) > MaxName {
		return fmt.Errorf("%w: %s %.80q has %d characters; at most %d are allowed", prescient.ErrInvalid, what, name, len(name), MaxName)
	}
	return prescient.ValidIdentifier(what, name)
}

// schedule is the one on which the job lies.
func (j Job) schedule() schedule.Schedule {
	return schedule.Schedule{ID: scheduleID(j.Name), Crontabs: j.Crontabs, Zone: j.Zone, JobExec: Exec, CatchUp: j.CatchUp, CatchUpWithin: j.CatchUpWithin,
		ExpiresAfter: j.ExpiresAfter, Jitter: j.Jitter, MayCoalesce: j.MayCoalesce, Long: true, Overlap: j.Overlap, Tolerance: j.Tolerance, Quota: j.Quota, Pool: j.Pool,
		Heartbeat: j.Heartbeat}
}

func scheduleID(job string) string { return reserved.JobPrefix + job }

// WithDefaults fills in what a zero field stands for, so that two definitions can be compared.
func (j Job) WithDefaults() Job {
	j.Zone = cmp.Or(j.Zone, "UTC")
	j.CatchUp = cmp.Or(j.CatchUp, schedule.Once)
	j.Overlap = cmp.Or(j.Overlap, longrun.Forbid)
	j.Steps = slices.Clone(j.Steps)
	for i := range j.Steps {
		j.Steps[i] = j.Steps[i].WithDefaults()
	}
	return j
}

// WithDefaults fills in what a zero field stands for.
func (s Step) WithDefaults() Step {
	if s.Shared {
		return s
	}
	s.Arguments = compact(s.Arguments)
	s.OnFailure = cmp.Or(s.OnFailure, Stop)
	if s.Retries > 0 {
		s.RetryWait = cmp.Or(s.RetryWait, DefaultRetryWait)
	}
	return s
}

// same says whether two steps are one.
func (s Step) same(o Step) bool {
	return s.Name == o.Name && s.Shared == o.Shared && s.JobExec == o.JobExec && string(s.Arguments) == string(o.Arguments) &&
		(s.Arguments == nil) == (o.Arguments == nil) && s.Timeout == o.Timeout && s.Retries == o.Retries && s.RetryWait == o.RetryWait && s.OnFailure == o.OnFailure
}

// sameTimes says whether two definitions have the same schedule.
func (j Job) sameTimes(o Job) bool {
	return slices.Equal(j.Crontabs, o.Crontabs) && j.Zone == o.Zone && j.CatchUp == o.CatchUp && j.CatchUpWithin == o.CatchUpWithin &&
		j.ExpiresAfter == o.ExpiresAfter && j.Jitter == o.Jitter && j.MayCoalesce == o.MayCoalesce && j.Overlap == o.Overlap &&
		j.Tolerance == o.Tolerance && j.Quota == o.Quota && j.Pool == o.Pool && j.Heartbeat == o.Heartbeat
}

// same says whether two definitions are one. Both have their defaults filled in.
func (j Job) same(o Job) bool {
	return j.Name == o.Name && j.sameTimes(o) && slices.EqualFunc(j.Steps, o.Steps, Step.same)
}

// shared are the names of the shared steps that it has, in order of the alphabet.
func (j Job) shared() (names []string) {
	for _, step := range j.Steps {
		if step.Shared {
			names = append(names, step.Name)
		}
	}
	slices.Sort(names)
	return names
}
