package steps

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
)

// jobRecord is a job as the tables have it.
type jobRecord struct {
	Crontabs      []string     `json:"crontab"`
	Zone          string       `json:"zone"`
	CatchUp       string       `json:"catch_up"`
	CatchUpWithin duration     `json:"catch_up_within,omitzero"`
	ExpiresAfter  duration     `json:"expires_after,omitzero"`
	Jitter        duration     `json:"jitter,omitzero"`
	Coalesce      bool         `json:"coalesce,omitempty"`
	Overlap       string       `json:"overlap"`
	Tolerance     duration     `json:"tolerance,omitzero"`
	Quota         duration     `json:"quota,omitzero"`
	Pool          string       `json:"pool,omitempty"`
	Heartbeat     string       `json:"heartbeat,omitempty"`
	Steps         []stepRecord `json:"steps"`
}

// stepRecord is a step as the tables have it. In a job a shared one has its name alone; in a version of a job it is whole.
type stepRecord struct {
	Name      string          `json:"name"`
	Shared    bool            `json:"shared,omitempty"`
	JobExec   string          `json:"job_exec,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Timeout   duration        `json:"timeout,omitzero"`
	Retries   int             `json:"retries,omitempty"`
	RetryWait duration        `json:"retry_wait,omitzero"`
	OnFailure string          `json:"on_failure,omitempty"`
}

// duration is a text as 1h30m0s in JSON.
type duration time.Duration

// MarshalText implements encoding.TextMarshaler.
func (d duration) MarshalText() ([]byte, error) { return []byte(time.Duration(d).String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *duration) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	parsed, err := time.ParseDuration(string(text))
	*d = duration(parsed)
	return err
}

func recordOf(s Step) stepRecord {
	return stepRecord{Name: s.Name, Shared: s.Shared, JobExec: s.JobExec, Arguments: s.Arguments, Timeout: duration(s.Timeout), Retries: s.Retries,
		RetryWait: duration(s.RetryWait), OnFailure: string(s.OnFailure)}
}

// encodeJob returns a job as JSON.
func encodeJob(j Job) (string, error) { return encode(jobRecordOf(j)) }

func jobRecordOf(j Job) jobRecord {
	r := jobRecord{Crontabs: j.Crontabs, Zone: j.Zone, CatchUp: string(j.CatchUp), CatchUpWithin: duration(j.CatchUpWithin),
		ExpiresAfter: duration(j.ExpiresAfter), Jitter: duration(j.Jitter), Coalesce: j.MayCoalesce, Overlap: string(j.Overlap),
		Tolerance: duration(j.Tolerance), Quota: duration(j.Quota), Pool: j.Pool, Heartbeat: j.Heartbeat}
	for _, step := range j.Steps {
		r.Steps = append(r.Steps, recordOf(step))
	}
	return r
}

// encode returns a record as JSON, with what its texts have of < > & as it is.
func encode(record any) (string, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(record)
	return strings.TrimSuffix(b.String(), "\n"), err
}

// compact returns arguments as they are stored: without blanks between values, and nil for null.
func compact(arguments json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if err := json.Compact(&b, arguments); err != nil || b.String() == "null" {
		return nil // an error is that of Validate, for arguments that are not empty
	}
	return b.Bytes()
}

// decodeJob reads what encodeJob wrote.
func decodeJob(name, text string) (Job, error) {
	var r jobRecord
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Job{}, fmt.Errorf("the definition of job %q: %w", name, err)
	}
	j := Job{Name: name, Crontabs: r.Crontabs, Zone: r.Zone, CatchUp: schedule.CatchUp(r.CatchUp), CatchUpWithin: time.Duration(r.CatchUpWithin),
		ExpiresAfter: time.Duration(r.ExpiresAfter), Jitter: time.Duration(r.Jitter), MayCoalesce: r.Coalesce, Overlap: longrun.Overlap(r.Overlap),
		Tolerance: time.Duration(r.Tolerance), Quota: time.Duration(r.Quota), Pool: r.Pool, Heartbeat: r.Heartbeat}
	for _, one := range r.Steps {
		j.Steps = append(j.Steps, one.step())
	}
	return j, nil
}

func (r stepRecord) step() Step {
	return Step{Name: r.Name, Shared: r.Shared, JobExec: r.JobExec, Arguments: r.Arguments, Timeout: time.Duration(r.Timeout), Retries: r.Retries,
		RetryWait: time.Duration(r.RetryWait), OnFailure: OnFailure(r.OnFailure)}
}

// encodeStep returns a shared step as JSON.
func encodeStep(s Step) (string, error) {
	return encode(recordOf(s))
}

// decodeStep reads what encodeStep wrote.
func decodeStep(text string) (Step, error) {
	var r stepRecord
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return Step{}, fmt.Errorf("the definition of a step: %w", err)
	}
	return r.step(), nil
}
