package ops

import (
	"encoding/json"
	"errors"
	"time"

	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

// JobDefinition is a job of steps as it is created.
type JobDefinition struct {
	Name string `json:"name" minLength:"1" maxLength:"64"`
	Timing
	Steps []StepDefinition `json:"steps" minItems:"1" maxItems:"100" doc:"Taken in order, each with another name."`
}

// StepDefinition is a job_exec and its arguments. A shared one has its name alone.
type StepDefinition struct {
	Name        string          `json:"name" minLength:"1" maxLength:"64"`
	Shared      bool            `json:"shared,omitempty" doc:"It is the shared step of this name, which has all else."`
	JobExec     string          `json:"job_exec,omitempty"`
	Arguments   json.RawMessage `json:"arguments,omitempty" doc:"JSON that the job_exec gets; for operators."`
	TimeoutMS   int64           `json:"timeout_ms,omitempty" minimum:"0" maximum:"31622400000" doc:"Bounds one call; by default that of the job_exec."`
	Retries     int             `json:"retries,omitempty" minimum:"0" maximum:"1000" doc:"How often it is tried again after a failure."`
	RetryWaitMS int64           `json:"retry_wait_ms,omitempty" minimum:"0" maximum:"31622400000" doc:"How long it waits before that; 10 seconds by default."`
	OnFailure   string          `json:"on_failure,omitempty" enum:"stop,continue" doc:"What comes after the last failure; stop by default."`
}

// job is what is defined. The error wraps prescient.ErrInvalid.
func (d JobDefinition) job() (j steps.Job, err error) {
	j = steps.Job{Name: d.Name, Crontabs: d.Crontabs, Zone: d.Zone, CatchUp: schedule.CatchUp(d.CatchUp), CatchUpWithin: millis(d.CatchUpWithinMS),
		ExpiresAfter: millis(d.ExpiresAfterMS), Jitter: millis(d.JitterMS), MayCoalesce: d.MayCoalesce, Overlap: longrun.Overlap(d.Overlap),
		Tolerance: millis(d.ToleranceMS), Pool: d.Pool, Heartbeat: d.Heartbeat}
	for _, s := range d.Steps {
		j.Steps = append(j.Steps, s.step())
	}
	j.Quota, err = d.quota()
	return j, err
}

func (d StepDefinition) step() steps.Step {
	s := steps.Step{Name: d.Name, Shared: d.Shared, JobExec: d.JobExec, Timeout: millis(d.TimeoutMS), Retries: d.Retries, RetryWait: millis(d.RetryWaitMS),
		OnFailure: steps.OnFailure(d.OnFailure)}
	if len(d.Arguments) > 0 && string(d.Arguments) != "null" {
		s.Arguments = d.Arguments
	}
	return s
}

// jobOf is the definition of a job as a caller may see it.
func (c Caller) jobOf(j steps.Job) JobDefinition {
	d := JobDefinition{Name: j.Name, Timing: timingOf(j.Schedule()), Steps: []StepDefinition{}}
	for _, s := range j.Steps {
		d.Steps = append(d.Steps, c.stepOf(s))
	}
	return d
}

func (c Caller) stepOf(s steps.Step) StepDefinition {
	d := StepDefinition{Name: s.Name, Shared: s.Shared, JobExec: s.JobExec, TimeoutMS: s.Timeout.Milliseconds(), Retries: s.Retries, RetryWaitMS: s.RetryWait.Milliseconds(),
		OnFailure: string(s.OnFailure)}
	if c.Role.May(Operator) {
		d.Arguments = s.Arguments
	}
	return d
}

// Job is a job that is there.
type Job struct {
	JobDefinition
	Version uint64 `json:"version,string" doc:"Rises with every change of the job, and of a shared step that it has."`
	Switch
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Wrong     string    `json:"wrong,omitempty" doc:"Why its definition, which plain SQL has written, cannot be read: there is its name alone."`
}

// Cursor is the place of the job in a list.
func (j Job) Cursor() string { return j.Name }

// SharedStep is a step that jobs may share.
type SharedStep struct {
	StepDefinition
	Version   uint64    `json:"version,string"`
	Jobs      []string  `json:"jobs,omitempty" doc:"The jobs that have it; not in a list."`
	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
	Wrong     string    `json:"wrong,omitempty" doc:"Why its definition cannot be read."`
}

// Cursor is the place of the step in a list.
func (s SharedStep) Cursor() string { return s.Name }

// butUnreadable is an error but that of a definition that plain SQL has written: what is wrong with it stands in the answer.
func butUnreadable(err error) error {
	if errors.Is(err, steps.ErrUnreadable) {
		return nil
	}
	return err
}

func wrongOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
