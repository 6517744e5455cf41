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
