package store

import (
	"encoding/hex"
	"encoding/json"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
)

// End is an end, as job_history holds it. Without a start (an expired job) nothing ran; without Ended the end is now.
type End struct {
	Job            prescient.FutureJob
	Key            prescient.Key
	Outcome        prescient.Outcome
	Reason         string
	Started, Ended time.Time
	Ran            time.Duration
	Worker         string
	Bare           bool // without its payload and last error, which the server did not take
}

// AppendEnd appends (…) for slotrun/history_insert.
func AppendEnd(b []byte, h End) []byte {
	j := &h.Job
	b = append(b, '(')
	b = append(literal.AppendText(b, j.EntityName), ',')
	b = append(literal.AppendText(b, j.EntityKey), ',')
	b = append(literal.AppendText(b, j.JobExec), ',')
	b = append(literal.AppendText(b, j.Tag), ',')
	b = append(literal.AppendMicro(b, j.DueAt), ',')
	b = append(literal.AppendKey(b, h.Key), ',')
	b = append(literal.AppendSecond(b, j.FirstCheckAt), ',')
	b = append(literal.AppendSecond(b, j.NextCheckAt), ',')
	b = append(literal.AppendInt(b, int64(j.CheckCount)), ',')
	b = append(literal.AppendInt(b, int64(j.ErrorCount)), ',')
	b = append(literal.AppendInt(b, int64(j.PutOffCount)), ',')
	b = append(literal.AppendTextOrNull(b, j.LastError), ',')
	b = append(literal.AppendInt(b, j.TotalMS), ',')
	b = append(literal.AppendJSON(b, string(j.Payload)), ',')
	b = append(literal.AppendUint(b, j.Revision), ',')
	b = append(literal.AppendMicro(b, j.InsertedAt), ',')
	b = append(literal.AppendSecond(b, j.NextCheckAt), ',')
	b = append(literal.AppendText(b, string(h.Outcome)), ',')
	b = append(literal.AppendTextOrNull(b, h.Reason), ',')
	switch {
	case h.Started.IsZero() && h.Ended.IsZero():
		b = append(b, "NULL,UTC_TIMESTAMP(6),0,NULL,"...)
	case h.Started.IsZero():
		b = append(literal.AppendMicro(append(b, "NULL,"...), h.Ended), ",0,NULL,"...)
	default:
		b = append(literal.AppendMicro(b, h.Started), ',')
		b = append(literal.AppendMicro(b, h.Ended), ',')
		b = append(literal.AppendInt(b, literal.Millis(h.Ran)), ',')
		b = append(literal.AppendInt(b, h.Started.Sub(j.NextCheckAt).Milliseconds()), ',')
	}
	b = append(literal.AppendText(b, h.Worker), ',')
	return append(literal.AppendMicroOrNull(b, j.ExpiresAt), ')')
}

// AppendEndOf appends […] for slotrun/history_each: what differs from the row that it is the end of.
func AppendEndOf(b []byte, h End) []byte {
	j := &h.Job
	b = append(hex.AppendEncode(append(b, '[', '"'), h.Key[:]), '"', ',')
	b = append(literal.AppendInt(b, int64(j.CheckCount)), ',')
	b = append(literal.AppendInt(b, int64(j.ErrorCount)), ',')
	b = append(literal.AppendInt(b, int64(j.PutOffCount)), ',')
	b = append(literal.AppendInt(b, j.TotalMS), ',', '"')
	b = append(append(b, h.Outcome...), '"', ',')
	if h.Reason == "" {
		b = append(b, "null,"...)
	} else {
		reason, _ := json.Marshal(h.Reason) // a string cannot fail
		b = append(append(b, reason...), ',')
	}
	moment := func(t time.Time) {
		if t.IsZero() {
			b = append(b, "null,"...)
			return
		}
		b = append(t.UTC().AppendFormat(append(b, '"'), literal.MicroLayout), '"', ',')
	}
	moment(h.Started)
	moment(h.Ended)
	if h.Started.IsZero() {
		return append(b, "0,null]"...)
	}
	b = append(literal.AppendInt(b, literal.Millis(h.Ran)), ',')
	return append(literal.AppendInt(b, h.Started.Sub(j.NextCheckAt).Milliseconds()), ']')
}

// MaxSent is how long a payload may be that is sent back for history. A longer one is copied by the server: in hexadecimal
// it would be twice as long, and no statement may grow with what a row holds.
const MaxSent = 64 << 10

// CopyEnd is slotrun/history_copy for an end.
func (t *Tables) CopyEnd(h End) string {
	j := &h.Job
	started, ended, ran, late := "NULL", "UTC_TIMESTAMP(6)", "0", "NULL"
	if !h.Ended.IsZero() {
		ended = literal.Of(literal.AppendMicro, h.Ended)
	}
	if !h.Started.IsZero() {
		started = literal.Of(literal.AppendMicro, h.Started)
		ran, late = literal.Of(literal.AppendInt, literal.Millis(h.Ran)), literal.Of(literal.AppendInt, h.Started.Sub(j.NextCheckAt).Milliseconds())
	}
	lastError, payload := "last_error", "payload"
	if h.Bare {
		lastError, payload = "NULL", "NULL"
	}
	return t.Fill("slotrun/history_copy", "{check_count}", literal.Of(literal.AppendInt, int64(j.CheckCount)),
		"{error_count}", literal.Of(literal.AppendInt, int64(j.ErrorCount)), "{put_off_count}", literal.Of(literal.AppendInt, int64(j.PutOffCount)),
		"{last_error}", lastError, "{total_ms}", literal.Of(literal.AppendInt, j.TotalMS), "{payload}", payload,
		"{outcome}", literal.Of(literal.AppendText, string(h.Outcome)), "{error}", literal.Of(literal.AppendTextOrNull, h.Reason),
		"{started_at}", started, "{ended_at}", ended, "{run_ms}", ran, "{lateness_ms}", late, "{worker}", literal.Of(literal.AppendText, h.Worker),
		"{slot}", literal.Of(literal.AppendSecond, j.NextCheckAt), "{key}", literal.Of(literal.AppendKey, h.Key), "{revision}", literal.Of(literal.AppendUint, j.Revision))
}
