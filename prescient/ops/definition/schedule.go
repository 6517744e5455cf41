package definition

import (
	"encoding/base64"
	"fmt"
	"time"
	"unicode/utf8"

	"prescient/prescient"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
)

// Timing says when something fires, and what becomes of its occurrences. Durations are in milliseconds; 0 and what is empty stand for the default.
type Timing struct {
	Crontabs        []string `json:"crontabs" minItems:"1" maxItems:"200" doc:"It fires whenever one of them does."`
	Zone            string   `json:"zone,omitempty" doc:"The zone of the crontabs, such as Europe/Berlin; UTC by default."`
	CatchUp         string   `json:"catch_up,omitempty" enum:"once,skip,all" doc:"What becomes of occurrences that were missed; once by default."`
	CatchUpWithinMS int64    `json:"catch_up_within_ms,omitempty" minimum:"0" maximum:"316224000000" doc:"What is later is missed, in whole seconds; by default a minute or two slots, whichever is longer."`
	ExpiresAfterMS  int64    `json:"expires_after_ms,omitempty" minimum:"0" maximum:"316224000000" doc:"How long after its time an occurrence is of use, in whole seconds; 0 for ever."`
	JitterMS        int64    `json:"jitter_ms,omitempty" minimum:"0" maximum:"316224000000" doc:"Bounds a delay that it has of its own, in whole seconds."`
	MayCoalesce     bool     `json:"may_coalesce,omitempty" doc:"Crontabs may be finer than the slots: occurrences of one slot are one."`
	Overlap         string   `json:"overlap,omitempty" enum:"forbid,queue,allow" doc:"What becomes of an occurrence of a long run that comes while the one before it is under way; forbid by default."`
	ToleranceMS     int64    `json:"tolerance_ms,omitempty" minimum:"0" maximum:"316224000000" doc:"By how much closer together than the occurrences two starts of long runs may be, in whole seconds; by default a tenth."`
	QuotaMS         int64    `json:"quota_ms,omitempty" minimum:"0" maximum:"316224000000" doc:"How long after its start a long run is ended, in whole seconds; by default half of the interval."`
	NoQuota         bool     `json:"no_quota,omitempty" doc:"Long runs may take as long as they do."`
	Pool            string   `json:"pool,omitempty" doc:"Whose agents may have its long runs; that of the job_exec by default."`
	Heartbeat       string   `json:"heartbeat,omitempty" doc:"What is told of its runs: a name in the configuration of workers."`
}

func millis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// quota is the quota that a timing names.
func (t Timing) quota() (time.Duration, error) {
	switch {
	case t.NoQuota && t.QuotaMS != 0:
		return 0, prescient.InField("quota_ms", fmt.Errorf("%w: quota_ms and no_quota exclude each other", prescient.ErrInvalid))
	case t.NoQuota:
		return schedule.NoQuota, nil
	}
	return millis(t.QuotaMS), nil
}

// timingOf is the timing of a schedule.
func timingOf(s schedule.Schedule) Timing {
	t := Timing{Crontabs: s.Crontabs, Zone: s.Zone, CatchUp: string(s.CatchUp), CatchUpWithinMS: s.CatchUpWithin.Milliseconds(), ExpiresAfterMS: s.ExpiresAfter.Milliseconds(),
		JitterMS: s.Jitter.Milliseconds(), MayCoalesce: s.MayCoalesce, Overlap: string(s.Overlap), ToleranceMS: s.Tolerance.Milliseconds(), QuotaMS: max(s.Quota, 0).Milliseconds(),
		NoQuota: s.Quota == schedule.NoQuota, Pool: s.Pool, Heartbeat: s.Heartbeat}
	if t.Crontabs == nil {
		t.Crontabs = []string{}
	}
	return t
}

// Schedule is a schedule as it is created. It has a job_exec or a topic.
type Schedule struct {
	ID string `json:"id" minLength:"1" maxLength:"128"`
	Timing
	JobExec string `json:"job_exec,omitempty" doc:"The job_exec that it runs."`
	Topic   string `json:"topic,omitempty" doc:"Where it sends an event for each occurrence."`
	// Payload is a text. What is no UTF-8 stands in PayloadBase64.
	Payload       *string `json:"payload,omitempty" doc:"What a run or an event carries, byte for byte, where that is a text; for operators."`
	PayloadBase64 string  `json:"payload_base64,omitempty" doc:"The same in base64, where it is no text."`
	Owner         string  `json:"owner,omitempty" doc:"Whom it belongs to: name/key, as in customer/42."`
	Long          bool    `json:"long,omitempty" doc:"Its runs are long ones; overlap, tolerance, quota and pool are for these."`
}

// Defined is what is defined. The error wraps prescient.ErrInvalid.
func (d Schedule) Defined() (s schedule.Schedule, err error) {
	s = schedule.Schedule{ID: d.ID, Crontabs: d.Crontabs, Zone: d.Zone, JobExec: d.JobExec, Topic: d.Topic, CatchUp: schedule.CatchUp(d.CatchUp), CatchUpWithin: millis(d.CatchUpWithinMS),
		ExpiresAfter: millis(d.ExpiresAfterMS), Jitter: millis(d.JitterMS), MayCoalesce: d.MayCoalesce, Long: d.Long, Overlap: longrun.Overlap(d.Overlap),
		Tolerance: millis(d.ToleranceMS), Pool: d.Pool, Heartbeat: d.Heartbeat}
	switch {
	case d.Payload != nil && d.PayloadBase64 != "":
		return s, prescient.InField("payload_base64", fmt.Errorf("%w: payload and payload_base64 exclude each other", prescient.ErrInvalid))
	case d.Payload != nil:
		s.Payload = []byte(*d.Payload)
	case d.PayloadBase64 != "":
		if s.Payload, err = base64.StdEncoding.DecodeString(d.PayloadBase64); err != nil {
			return s, prescient.InField("payload_base64", fmt.Errorf("%w: payload_base64 %.40q: base64 with + / and = is wanted", prescient.ErrInvalid, d.PayloadBase64))
		}
	}
	if d.Owner != "" {
		if s.Owner, err = prescient.ParseEntity(d.Owner); err != nil {
			return s, prescient.InField("owner", fmt.Errorf("owner: %w", err))
		}
	}
	s.Quota, err = d.quota()
	return s, err
}

// Validate returns the error with which it would be refused in the place of another, which may be the zero one; it wraps prescient.ErrInvalid. Whether
// crontabs are finer than slots PreviewSchedule says.
func (d Schedule) Validate(old Schedule) error {
	s, err := d.Defined()
	if err != nil {
		return err
	}
	was, err := old.Defined()
	if err != nil {
		return err
	}
	return s.ValidateFrom(was)
}

// OfSchedule is the definition of a schedule.
func OfSchedule(s schedule.Schedule) Schedule {
	d := Schedule{ID: s.ID, Timing: timingOf(s), JobExec: s.JobExec, Topic: s.Topic, Long: s.Long}
	if s.Owner != (prescient.Entity{}) {
		d.Owner = s.Owner.String()
	}
	switch text := string(s.Payload); {
	case s.Payload == nil:
	case utf8.ValidString(text):
		d.Payload = &text
	default:
		d.PayloadBase64 = base64.StdEncoding.EncodeToString(s.Payload)
	}
	return d
}
