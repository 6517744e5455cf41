package file

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"prescient/config/value"
	"prescient/prescient"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
)

// Record is a schedule as it stands in a file, in the order in which it is written. What is empty is left out, and means the default.
type Record struct {
	ID string `json:"id"`
	// Crontab is one crontab, or a list.
	Crontab Crontabs `json:"crontab"`
	Zone    string   `json:"zone,omitempty"` // UTC by default
	// Exec is the job_exec that it runs, Topic where it sends an event: one of the two.
	Exec  string `json:"exec,omitempty"`
	Topic string `json:"topic,omitempty"`
	// Payload is a text. What is no UTF-8 stands in PayloadBase64.
	Payload       *string `json:"payload,omitempty"`
	PayloadBase64 string  `json:"payload_base64,omitempty"`
	Owner         string  `json:"owner,omitempty"`    // name/key
	CatchUp       string  `json:"catch_up,omitempty"` // once by default
	// These are durations, such as 90s or 1d12h.
	CatchUpWithin string `json:"catch_up_within,omitempty"`
	ExpiresAfter  string `json:"expires_after,omitempty"`
	Jitter        string `json:"jitter,omitempty"`
	Coalesce      bool   `json:"coalesce,omitempty"`
	// Long says that its runs are long ones; the next four are for these alone.
	Long      bool   `json:"long,omitempty"`
	Overlap   string `json:"overlap,omitempty"`   // forbid by default
	Tolerance string `json:"tolerance,omitempty"` // a duration
	Quota     string `json:"quota,omitempty"`     // a duration, or none
	Pool      string `json:"pool,omitempty"`      // that of the job_exec by default
	// Heartbeat is told of its runs or events; none by default.
	Heartbeat string `json:"heartbeat,omitempty"`
	// Enabled is false for one that does not fire. True says no more than nothing does: what is paused stays so.
	Enabled *bool `json:"enabled,omitempty"`
}

// Crontabs are written as a text where it is one, and as a list otherwise.
type Crontabs []string

// MarshalJSON implements json.Marshaler.
func (c Crontabs) MarshalJSON() ([]byte, error) {
	if len(c) == 1 {
		return json.Marshal(c[0])
	}
	return json.Marshal([]string(c))
}

// Of returns the record of a schedule.
func Of(one schedule.Schedule, enabled bool) Record {
	r := Record{ID: one.ID, Crontab: one.Crontabs, Zone: one.Zone, Exec: one.JobExec, Topic: one.Topic, CatchUp: string(one.CatchUp),
		CatchUpWithin: durationText(one.CatchUpWithin), ExpiresAfter: durationText(one.ExpiresAfter), Jitter: durationText(one.Jitter),
		Coalesce: one.MayCoalesce, Long: one.Long, Overlap: string(one.Overlap), Tolerance: durationText(one.Tolerance), Quota: quotaText(one.Quota), Pool: one.Pool, Heartbeat: one.Heartbeat}
	if r.Zone == "UTC" {
		r.Zone = ""
	}
	if one.CatchUp == schedule.Once {
		r.CatchUp = ""
	}
	if one.Overlap == longrun.Forbid {
		r.Overlap = ""
	}
	if one.Owner != (prescient.Entity{}) {
		r.Owner = one.Owner.String()
	}
	switch text := string(one.Payload); {
	case one.Payload == nil:
	case utf8.ValidString(text):
		r.Payload = &text
	default:
		r.PayloadBase64 = base64.StdEncoding.EncodeToString(one.Payload)
	}
	if !enabled {
		r.Enabled = &enabled
	}
	return r
}

// wanted returns the schedule of a record. The error says what is wrong with the record itself, or is that of Validate.
func (r Record) wanted() (schedule.Wanted, error) {
	w := schedule.Wanted{Schedule: schedule.Schedule{ID: r.ID, Crontabs: r.Crontab, Zone: r.Zone, JobExec: r.Exec, Topic: r.Topic, MayCoalesce: r.Coalesce,
		Long: r.Long, Pool: r.Pool, Heartbeat: r.Heartbeat},
		Paused: r.Enabled != nil && !*r.Enabled}
	switch {
	case r.ID == "":
		return w, errors.New("it has no id")
	case len(r.Crontab) == 0:
		return w, errors.New("it has no crontab")
	case r.Payload != nil && r.PayloadBase64 != "":
		return w, prescient.InField("payload_base64", errors.New("payload and payload_base64 exclude each other"))
	case r.Payload != nil:
		w.Payload = []byte(*r.Payload)
	case r.PayloadBase64 != "":
		payload, err := base64.StdEncoding.DecodeString(r.PayloadBase64)
		if err != nil {
			return w, prescient.InField("payload_base64", fmt.Errorf("payload_base64 %.40q: base64 with + / and = is wanted", r.PayloadBase64))
		}
		w.Payload = payload
	}
	var err error
	if r.Owner != "" {
		if w.Owner, err = prescient.ParseEntity(r.Owner); err != nil {
			return w, prescient.InField("owner", fmt.Errorf("owner: %w", err))
		}
	}
	if w.CatchUp, err = schedule.ParseCatchUp(r.CatchUp); err != nil {
		return w, prescient.InField("catch_up", err)
	}
	if w.Overlap, err = longrun.ParseOverlap(r.Overlap); err != nil {
		return w, prescient.InField("overlap", err)
	}
	if w.Quota, err = ParseQuota(r.Quota); err != nil {
		return w, prescient.InField("quota", err)
	}
	for _, of := range []struct {
		name, text string
		into       *time.Duration
	}{{"catch_up_within", r.CatchUpWithin, &w.CatchUpWithin}, {"expires_after", r.ExpiresAfter, &w.ExpiresAfter}, {"jitter", r.Jitter, &w.Jitter},
		{"tolerance", r.Tolerance, &w.Tolerance}} {
		if of.text == "" {
			continue
		}
		if *of.into, err = value.ParseDuration(of.text); err != nil {
			return w, prescient.InField(of.name, fmt.Errorf("%s: %w", of.name, err))
		}
	}
	return w, w.Validate()
}

// durationText is a duration of whole milliseconds as it is read again; empty for none.
func durationText(d time.Duration) string {
	var b strings.Builder
	for _, unit := range []struct {
		d    time.Duration
		name string
	}{{value.Day, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if n := d / unit.d; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10) + unit.name)
			d -= n * unit.d
		}
	}
	return b.String()
}

// noQuota is how a quota is written where there is none.
const noQuota = "none"

// ParseQuota reads a quota: a duration, none for schedule.NoQuota, and nothing for the default. The error wraps
// prescient.ErrInvalid.
func ParseQuota(text string) (time.Duration, error) {
	switch text {
	case "":
		return 0, nil
	case noQuota:
		return schedule.NoQuota, nil
	}
	d, err := value.ParseDuration(text)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%w: quota: %w, or %s", prescient.ErrInvalid, err, noQuota)
	case d < 0:
		return 0, fmt.Errorf("%w: quota %s: whole seconds are allowed, or %s", prescient.ErrInvalid, d, noQuota)
	}
	return d, nil
}

// quotaText is a quota as it is read again.
func quotaText(d time.Duration) string {
	if d == schedule.NoQuota {
		return noQuota
	}
	return durationText(d)
}
