package definition

import (
	"encoding/json"

	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

// Job is a job of steps as it is created.
type Job struct {
	Name string `json:"name" minLength:"1" maxLength:"64"`
	Timing
	Steps []Step `json:"steps" minItems:"1" maxItems:"100" doc:"Taken in order, each with another name."`
}

// Step is a job_exec and its arguments. A shared one has its name alone.
type Step struct {
	Name        string          `json:"name" minLength:"1" maxLength:"64"`
	Shared      bool            `json:"shared,omitempty" doc:"It is the shared step of this name, which has all else."`
	JobExec     string          `json:"job_exec,omitempty"`
	Arguments   json.RawMessage `json:"arguments,omitempty" doc:"JSON that the job_exec gets; for operators."`
	TimeoutMS   int64           `json:"timeout_ms,omitempty" minimum:"0" maximum:"31622400000" doc:"Bounds one call; by default that of the job_exec."`
	Retries     int             `json:"retries,omitempty" minimum:"0" maximum:"1000" doc:"How often it is tried again after a failure."`
	RetryWaitMS int64           `json:"retry_wait_ms,omitempty" minimum:"0" maximum:"31622400000" doc:"How long it waits before that; 10 seconds by default."`
	OnFailure   string          `json:"on_failure,omitempty" enum:"stop,continue" doc:"What comes after the last failure; stop by default."`
}

// Defined is what is defined. The error wraps prescient.ErrInvalid.
func (d Job) Defined() (j steps.Job, err error) {
	j = steps.Job{Name: d.Name, Crontabs: d.Crontabs, Zone: d.Zone, CatchUp: schedule.CatchUp(d.CatchUp), CatchUpWithin: millis(d.CatchUpWithinMS),
		ExpiresAfter: millis(d.ExpiresAfterMS), Jitter: millis(d.JitterMS), MayCoalesce: d.MayCoalesce, Overlap: longrun.Overlap(d.Overlap),
		Tolerance: millis(d.ToleranceMS), Pool: d.Pool, Heartbeat: d.Heartbeat}
	for _, s := range d.Steps {
		j.Steps = append(j.Steps, s.Defined())
	}
	j.Quota, err = d.quota()
	return j, err
}

// Validate returns the error with which it would be refused, whatever else there is; it wraps prescient.ErrInvalid. Whether crontabs are finer than
// slots PreviewSchedule says.
func (d Job) Validate() error {
	job, err := d.Defined()
	if err != nil {
		return err
	}
	return job.Validate()
}

// Given is a value in JSON; nil where that is null or was not given.
func Given(value json.RawMessage) json.RawMessage {
	if len(value) == 0 || string(value) == "null" {
		return nil
	}
	return value
}

// Defined is what is defined.
func (d Step) Defined() steps.Step {
	return steps.Step{Name: d.Name, Shared: d.Shared, JobExec: d.JobExec, Timeout: millis(d.TimeoutMS), Retries: d.Retries, RetryWait: millis(d.RetryWaitMS),
		OnFailure: steps.OnFailure(d.OnFailure), Arguments: Given(d.Arguments)}
}

// OfJob is the definition of a job, with the arguments of its steps where they may be seen.
func OfJob(j steps.Job, arguments bool) Job {
	d := Job{Name: j.Name, Timing: timingOf(j.Schedule()), Steps: []Step{}}
	for _, s := range j.Steps {
		d.Steps = append(d.Steps, OfStep(s, arguments))
	}
	return d
}

// OfStep is the definition of a step, with its arguments where they may be seen.
func OfStep(s steps.Step, arguments bool) Step {
	d := Step{Name: s.Name, Shared: s.Shared, JobExec: s.JobExec, TimeoutMS: s.Timeout.Milliseconds(), Retries: s.Retries, RetryWaitMS: s.RetryWait.Milliseconds(),
		OnFailure: string(s.OnFailure)}
	if arguments {
		d.Arguments = s.Arguments
	}
	return d
}
