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
	CatchUpWithin string       `json:"catch_up_within,omitempty"`
	ExpiresAfter  string       `json:"expires_after,omitempty"`
	Jitter        string       `json:"jitter,omitempty"`
	Coalesce      bool         `json:"coalesce,omitempty"`
	Overlap       string       `json:"overlap"`
	Tolerance     string       `json:"tolerance,omitempty"`
	Quota         string       `json:"quota,omitempty"`
	Pool          string       `json:"pool,omitempty"`
	Steps         []stepRecord `json:"steps"`
}

// stepRecord is a step as the tables have it. In a job a shared one has its name alone; in a version of a job it is whole.
type stepRecord struct {
	Name      string          `json:"name"`
	Shared    bool            `json:"shared,omitempty"`
	JobExec   string          `json:"job_exec,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Timeout   string          `json:"timeout,omitempty"`
	Retries   int             `json:"retries,omitempty"`
	RetryWait string          `json:"retry_wait,omitempty"`
	OnFailure string          `json:"on_failure,omitempty"`
}

func durationText(d time.Duration) string {
	if d == 0 {
		return ""
	}
	return d.String()
}

func durationOf(text string) (time.Duration, error) {
	if text == "" {
		return 0, nil
	}
	return time.ParseDuration(text)
}

func recordOf(s Step) stepRecord {
	return stepRecord{Name: s.Name, Shared: s.Shared, JobExec: s.JobExec, Arguments: s.Arguments, Timeout: durationText(s.Timeout), Retries: s.Retries,
		RetryWait: durationText(s.RetryWait), OnFailure: string(s.OnFailure)}
}

// encodeJob returns a job as JSON.
func encodeJob(j Job) (string, error) { return encode(jobRecordOf(j)) }

func jobRecordOf(j Job) jobRecord {
	r := jobRecord{Crontabs: j.Crontabs, Zone: j.Zone, CatchUp: string(j.CatchUp), CatchUpWithin: durationText(j.CatchUpWithin),
		ExpiresAfter: durationText(j.ExpiresAfter), Jitter: durationText(j.Jitter), Coalesce: j.MayCoalesce, Overlap: string(j.Overlap),
		Tolerance: durationText(j.Tolerance), Quota: durationText(j.Quota), Pool: j.Pool}
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
	j := Job{Name: name, Crontabs: r.Crontabs, Zone: r.Zone, CatchUp: schedule.CatchUp(r.CatchUp), MayCoalesce: r.Coalesce, Overlap: longrun.Overlap(r.Overlap), Pool: r.Pool}
	for _, of := range []struct {
		text string
		into *time.Duration
	}{{r.CatchUpWithin, &j.CatchUpWithin}, {r.ExpiresAfter, &j.ExpiresAfter}, {r.Jitter, &j.Jitter}, {r.Tolerance, &j.Tolerance}, {r.Quota, &j.Quota}} {
		var err error
		if *of.into, err = durationOf(of.text); err != nil {
			return Job{}, fmt.Errorf("the definition of job %q: %w", name, err)
		}
	}
	for _, one := range r.Steps {
		step, err := one.step()
		if err != nil {
			return Job{}, fmt.Errorf("the definition of job %q: %w", name, err)
		}
		j.Steps = append(j.Steps, step)
	}
	return j, nil
}

func (r stepRecord) step() (s Step, err error) {
	s = Step{Name: r.Name, Shared: r.Shared, JobExec: r.JobExec, Arguments: r.Arguments, Retries: r.Retries, OnFailure: OnFailure(r.OnFailure)}
	if s.Timeout, err = durationOf(r.Timeout); err == nil {
		s.RetryWait, err = durationOf(r.RetryWait)
	}
	if err != nil {
		return s, fmt.Errorf("step %q: %w", r.Name, err)
	}
	return s, nil
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
	return r.step()
}
