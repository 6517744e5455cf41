package prescient

import (
	"context"
	"encoding/json"
	"fmt"
	"time"
)

// FutureJob is a pending row of future_job: what a job_exec is called with. Its JSON has the names of the columns.
// All times are UTC.
type FutureJob struct {
	EntityName string `db:"entity_name" json:"entity_name"`
	EntityKey  string `db:"entity_key" json:"entity_key"`
	JobExec    string `db:"job_exec" json:"job_exec"`
	// Tag tells apart several checks of one job_exec on one entity; often empty.
	Tag string `db:"tag" json:"tag"`
	// DueAt is the time that was asked for; a returned time replaces it.
	DueAt time.Time `db:"due_at" json:"due_at"`
	// FirstCheckAt is the slot of the first check.
	FirstCheckAt time.Time `db:"first_check_at" json:"first_check_at"`
	// NextCheckAt is the slot this row waits for; inside a job_exec, the slot that is being run.
	NextCheckAt time.Time `db:"next_check_at" json:"next_check_at"`
	// CheckCount counts the times that its job_exec returned so far.
	CheckCount int `db:"check_count" json:"check_count"`
	// ErrorCount counts the errors in a row up to now.
	ErrorCount int `db:"error_count" json:"error_count"`
	// PutOffCount counts the times in a row that it was moved on without a call.
	PutOffCount int `db:"put_off_count" json:"put_off_count"`
	// LastError is the text of the latest error, empty when the last check went well.
	LastError string `db:"last_error" json:"last_error,omitempty"`
	// TotalMS is the run time of all its checks so far, in milliseconds.
	TotalMS int64 `db:"total_ms" json:"total_ms"`
	// Payload is what the insert gave; nil where it gave none.
	Payload json.RawMessage `db:"payload" json:"payload"`
	// Revision changes with every change of the row: a cancel and a new insert of the same check give another revision.
	Revision uint64 `db:"revision" json:"revision,string"`
	// InsertedAt is when the row was inserted, by the database's clock.
	InsertedAt time.Time `db:"inserted_at" json:"inserted_at"`
	// ExpiresAt is from when on it is not called any more, and ends as expired; nil where it has no expiry of its own. See
	// Expiry. Where a returned time or a Reschedule moves DueAt, it moves by as much.
	ExpiresAt *time.Time `db:"expires_at" json:"expires_at,omitzero"`
	// Trace is the trace in which it was inserted, as the header traceparent of W3C Trace Context; empty for none, and for what is no such header.
	Trace string `db:"trace" json:"trace,omitempty"`
	// RuleVersion is the version of the rule that its tag names, by which it was made or moved last, and OccasionAt when the occasion was that
	// it was made for; 0 and nil where no rule made it. Of what plain SQL wrote OccasionAt may be nil alone.
	RuleVersion uint32     `db:"rule_version" json:"rule_version,omitempty"`
	OccasionAt  *time.Time `db:"occasion_at" json:"occasion_at,omitzero"`
	// CalledAt is when its job_exec was called, by the database's clock. A job_exec that wants to look again after a while
	// counts from it, whatever the clock of the worker's machine says. Zero outside of a call; no column.
	CalledAt time.Time `db:"-" json:"called_at,omitzero"`
	// Heartbeat is the name of what is told of the run of a schedule, taken out of its payload for the call. Empty outside of a call; no column.
	Heartbeat string `db:"-" json:"-"`
}

// Entity returns what the check is about.
func (j FutureJob) Entity() Entity { return Entity{Name: j.EntityName, Key: j.EntityKey} }

// Key returns the row's job_key.
func (j FutureJob) Key() Key { return KeyOf(j.Entity(), j.JobExec, j.Tag) }

// IdempotencyKey names the answer that this call is for, so that a receiver that is told of it twice can notice. All calls
// until that answer have the same key: those after an error or a timeout, of which nobody knows what they did; those that a
// dead worker leaves to another; and those after the row was put off or rolled forward. The key is another after an answer,
// and where the app replaced, rescheduled or inserted the check anew.
func (j FutureJob) IdempotencyKey() string {
	return fmt.Sprintf("%s-%d-%d-%d", j.Key(), j.InsertedAt.UnixMicro(), j.DueAt.UnixMicro(), j.CheckCount)
}

// Func is a job_exec: the check itself. It answers with the next time to check, or nil when the matter is settled.
//
// The context ends at the timeout of its guards, and when a worker that was told to stop has no more grace. A Func may be
// called more than once for the same row when a worker died between the call and the commit, so what it does should
// bear that.
type Func func(ctx context.Context, job FutureJob) (*time.Time, error)

// At returns &t: the answer of a job_exec that wants to look again at t.
func At(t time.Time) *time.Time { return &t }

// EarliestDue is the first time that a DATETIME column is documented to hold.
var EarliestDue = time.Date(1000, 1, 1, 0, 0, 0, 0, time.UTC)

// LatestSlot is after every slot that a column can hold.
var LatestSlot = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)

// Cursor names the place of the row in a listing of pending rows.
func (j FutureJob) Cursor() string {
	return j.NextCheckAt.UTC().Format(time.DateTime) + "/" + j.Key().String()
}
