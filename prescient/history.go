package prescient

import (
	"time"
)

// historyRow is an end, as job_history holds it. Without a start (a cancelled job) nothing ran, and the end is now.
type historyRow struct {
	job            FutureJob
	key            Key
	outcome        Outcome
	reason         string
	started, ended time.Time
	ran            time.Duration
	worker         string
	bare           bool // without its payload and last error, which the server did not take
}

// appendHistory appends (…) for slotrun/history_insert.
func appendHistory(b []byte, h historyRow) []byte {
	j := &h.job
	b = append(b, '(')
	b = append(appendText(b, j.EntityName), ',')
	b = append(appendText(b, j.EntityKey), ',')
	b = append(appendText(b, j.JobExec), ',')
	b = append(appendText(b, j.Tag), ',')
	b = append(appendMicro(b, j.DueAt), ',')
	b = append(appendKey(b, h.key), ',')
	b = append(appendSecond(b, j.FirstCheckAt), ',')
	b = append(appendSecond(b, j.NextCheckAt), ',')
	b = append(appendInt(b, int64(j.CheckCount)), ',')
	b = append(appendInt(b, int64(j.ErrorCount)), ',')
	b = append(appendInt(b, int64(j.PutOffCount)), ',')
	b = append(appendTextOrNull(b, j.LastError), ',')
	b = append(appendInt(b, j.TotalMS), ',')
	b = append(appendJSON(b, string(j.Payload)), ',')
	b = append(appendUint(b, j.Revision), ',')
	b = append(appendMicro(b, j.InsertedAt), ',')
	b = append(appendSecond(b, j.NextCheckAt), ',')
	b = append(appendText(b, string(h.outcome)), ',')
	b = append(appendTextOrNull(b, h.reason), ',')
	if h.started.IsZero() {
		b = append(b, "NULL,UTC_TIMESTAMP(6),0,NULL,"...)
	} else {
		b = append(appendMicro(b, h.started), ',')
		b = append(appendMicro(b, h.ended), ',')
		b = append(appendInt(b, millis(h.ran)), ',')
		b = append(appendInt(b, h.started.Sub(j.NextCheckAt).Milliseconds()), ',')
	}
	b = appendText(b, h.worker)
	return append(b, ')')
}

// maxSent is how long a payload may be that is sent back for history. A longer one is copied by the server: in hexadecimal
// it would be twice as long, and no statement may grow with what a row holds.
const maxSent = 64 << 10

// copyEnd is slotrun/history_copy for an end.
func (t *tables) copyEnd(h historyRow) string {
	j := &h.job
	started, ended, ran, late := "NULL", "UTC_TIMESTAMP(6)", "0", "NULL"
	if !h.started.IsZero() {
		started, ended = literal(appendMicro, h.started), literal(appendMicro, h.ended)
		ran, late = literal(appendInt, millis(h.ran)), literal(appendInt, h.started.Sub(j.NextCheckAt).Milliseconds())
	}
	lastError, payload := "last_error", "payload"
	if h.bare {
		lastError, payload = "NULL", "NULL"
	}
	return t.fill("slotrun/history_copy", "{check_count}", literal(appendInt, int64(j.CheckCount)),
		"{error_count}", literal(appendInt, int64(j.ErrorCount)), "{put_off_count}", literal(appendInt, int64(j.PutOffCount)),
		"{last_error}", lastError, "{total_ms}", literal(appendInt, j.TotalMS), "{payload}", payload,
		"{outcome}", literal(appendText, string(h.outcome)), "{error}", literal(appendTextOrNull, h.reason),
		"{started_at}", started, "{ended_at}", ended, "{run_ms}", ran, "{lateness_ms}", late, "{worker}", literal(appendText, h.worker),
		"{slot}", literal(appendSecond, j.NextCheckAt), "{key}", literal(appendKey, h.key), "{revision}", literal(appendUint, j.Revision))
}
