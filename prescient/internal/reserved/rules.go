package reserved

import (
	"bytes"
	"encoding/json"
	"errors"
	"time"

	"prescient/prescient"
)

// Package prescient has the rules that hold for any check. What schedules want of theirs is said here, and comes to it as an Answer:
// whoever calls checks may lack the room of schedules.

// ErrChanged is why a run ends whose schedule was changed beside its call.
var ErrChanged = errors.New("its schedule was changed while it was under way")

// Superseded is what becomes of such a run, whose end is the app's.
func Superseded(run prescient.FutureJob) prescient.Verdict {
	return prescient.Verdict{Outcome: prescient.Superseded, Reason: ErrChanged.Error(), DueAt: run.DueAt, CheckCount: run.CheckCount,
		ErrorCount: run.ErrorCount, PutOffCount: run.PutOffCount}
}

// Unregistered is the answer for a check whose job_exec nobody has registered: the timer of a schedule is looked at in each slot.
func Unregistered(job prescient.FutureJob) prescient.Answer {
	a := prescient.Answer{Cause: prescient.CauseUnregistered}
	if IsTimer(job) {
		a.Next = &job.NextCheckAt
	}
	return a
}

// MayLapse is prescient.MayLapse, for NotCalled as it stands here.
func MayLapse(g prescient.Guards, job *prescient.FutureJob) bool {
	return prescient.MayLapse(g, job) || !g.Endless && job.EntityName == prescient.ScheduleEntity
}

// NotCalled is prescient.NotCalled, and says so of a run of a schedule, too, that is too late: one of which no answer was ever committed,
// and whose payload says by when it was to be called, {"missed_after":"2006-01-02T15:04:05Z"}. That comes first. It is a pure function.
func NotCalled(g prescient.Guards, job prescient.FutureJob, now time.Time) (prescient.Answer, bool) {
	if by := missedAfter(job); !g.Endless && !by.IsZero() && now.After(by) {
		return prescient.Answer{Cause: prescient.CauseMissed, Next: &by}, true
	}
	cause, not := prescient.NotCalled(g, job, now)
	return prescient.Answer{Cause: cause}, not
}

// missedAfter is by when a run of a schedule is to be called for the first time; zero where it is none, or says nothing about
// that.
func missedAfter(job prescient.FutureJob) time.Time {
	if job.EntityName != prescient.ScheduleEntity || job.CheckCount > 0 || job.ErrorCount > 0 || len(job.Payload) == 0 {
		return time.Time{}
	}
	var payload struct {
		MissedAfter time.Time `json:"missed_after"`
	}
	// Only a reslot moves the first slot of a run behind that: then it is called whenever that is.
	if json.Unmarshal(job.Payload, &payload) != nil || job.FirstCheckAt.After(payload.MissedAfter) {
		return time.Time{}
	}
	return payload.MissedAfter.UTC()
}

// InCall is a check as its job_exec gets it: the payload of a run of a schedule is the same whether the schedule names a heartbeat or not.
func InCall(job prescient.FutureJob) prescient.FutureJob {
	const key = "heartbeat"
	if job.EntityName != prescient.ScheduleEntity || !bytes.Contains(job.Payload, []byte(key)) {
		return job
	}
	var (
		payload map[string]json.RawMessage
		name    string
	)
	if json.Unmarshal(job.Payload, &payload) != nil || json.Unmarshal(payload[key], &name) != nil || prescient.ValidIdentifier(key, name) != nil {
		return job
	}
	delete(payload, key)
	job.Heartbeat, job.Payload = name, nil
	if len(payload) > 0 {
		job.Payload, _ = json.Marshal(payload) // which cannot fail
	}
	return job
}
