package probe

import (
	"errors"
	"fmt"
	nethttp "net/http"
	"time"

	"prescient/prescient"
	"prescient/slots"
)

// What to do about a call that is not taken, though a worker may make it.
const (
	doAnswer  = `answer 204, or 200 with null, {"next_check_at": "2026-03-01T13:00:00Z"} or {"next_in": "2h"}`
	doSpaces  = "compute the HMAC over the bytes that came in, before any JSON is read: what is read and written anew has other bytes"
	doLarge   = "let the server and the framework take larger bodies: a payload may have 4 MiB"
	doMember  = "skip members that are not known: later versions have more"
	doVersion = "look for t= and v1= among the members of the signature, and skip the others: later versions have more"
	doRefuse  = "answer 401 before anything is done: compute the HMAC-SHA256 of t, a point and the bytes that came in, compare it with v1, and refuse a t that is minutes off"
	doLater   = "call it again later: a worker makes all calls of a slot at once"
	doSame    = "keep what was answered by Idempotency-Key, or have the answer follow from the state of the entity: a worker that lost the answer calls again with the same key"
)

// What follows from a call that is taken, though it is to be refused.
const (
	consequenceAnybody = "whoever knows the URL can make calls"
	consequenceReplay  = "whoever has seen a call can make it again for ever"
	consequenceChange  = "whoever has seen a call can make others of it"
)

// judgeSigned says what a worker makes of the answer to its call.
func judgeSigned(grid slots.Grid, g prescient.Guards, job prescient.FutureJob, s seen) Finding {
	v := prescient.Decide(grid, g, job, prescient.Answer{Next: s.next, Err: s.err}, s.at)
	switch {
	case s.err != nil && v.Outcome != "":
		return s.finding(CodeSigned, Bad, fmt.Sprintf("%s: a worker takes that for an error, and ends the check at once, as %s", s.err, v.Outcome), doFirst(job, s))
	case s.err != nil:
		return s.finding(CodeSigned, Bad, fmt.Sprintf("%s: a worker takes that for an error, calls again, and ends the check after %d errors in a row", s.err, max(g.MaxErrors, 0)+1), doFirst(job, s))
	case v.Outcome != "" && v.Outcome != prescient.Done:
		return s.finding(CodeSigned, Bad, fmt.Sprintf("the check ends as %s: %s", v.Outcome, v.Reason), "answer a time after the slot and before the horizon, or null where the matter is settled")
	}
	text := s.word() + ": the check ends"
	if s.next != nil {
		text = fmt.Sprintf("%s: called again in the slot %s", s.word(), slots.Stamp(v.Slot))
	}
	if s.took > g.Timeout/2 {
		return s.finding(CodeSigned, Warn, fmt.Sprintf("%s; the answer took %s of the %s that a call may take", text, s.took.Round(time.Millisecond), g.Timeout),
			"answer sooner, or raise the timeout of the job_exec")
	}
	return s.finding(CodeSigned, OK, text, "")
}

// doFirst says what to do about the answer to a call of a worker that is none.
func doFirst(job prescient.FutureJob, s seen) string {
	switch {
	case errors.Is(s.err, prescient.ErrTimeout):
		return "answer sooner, raise the timeout of the job_exec, or make it a long run (long: true)"
	case s.status == 0:
		return "see whether the app runs, and listens at the URL"
	case s.status/100 == 3:
		return "give the URL that it leads to"
	}
	switch s.status {
	case nethttp.StatusUnauthorized, nethttp.StatusForbidden:
		do := "give the secret that the app has, and have it compute the HMAC-SHA256 of t, a point and the bytes that came in"
		if off := clockOff(s); off != 0 {
			do += fmt.Sprintf("; its clock is %s off this one", off)
		}
		return do
	case nethttp.StatusNotFound, nethttp.StatusGone:
		return fmt.Sprintf("see whether the path is right; where it is %s that is not known give --entity of one that is, and settle by 204 what is gone", job.Entity())
	case nethttp.StatusMethodNotAllowed:
		return "take POST"
	case nethttp.StatusRequestEntityTooLarge:
		return doLarge
	case nethttp.StatusUnsupportedMediaType:
		return "take application/json"
	case nethttp.StatusTooManyRequests:
		return doLater
	}
	if s.status >= nethttp.StatusInternalServerError {
		return "see the log of the app"
	}
	return doAnswer
}

// clockOff is by how much the clock of a receiver differs; 0 where it says nothing of it, or a minute at most.
func clockOff(s seen) time.Duration {
	at, err := nethttp.ParseTime(s.date)
	off := s.at.Sub(at).Abs().Round(time.Second)
	if err != nil || off <= time.Minute {
		return 0
	}
	return off
}

// finding is what a probe says of an answer. Of a receiver that wants fewer calls nothing is known.
func (p probe) finding(first, s seen) Finding {
	f := p.judge(first, s)
	if s.status == nethttp.StatusTooManyRequests {
		return s.finding(f.Code, Unseen, s.err.Error(), doLater)
	}
	return f
}

// judgeAgain compares the answer to a call that is made again with the first.
func judgeAgain(first, s seen) Finding {
	switch {
	case s.err != nil:
		return s.finding(CodeAgain, Bad, fmt.Sprintf("the same call again: %s; the first was answered", s.err), doSame)
	case (first.next == nil) != (s.next == nil):
		return s.finding(CodeAgain, Warn, fmt.Sprintf("the same call again is %s, where the first was %s", s.word(), first.word()), doSame)
	case s.next != nil && s.next.Sub(*first.next).Abs() > s.at.Sub(first.at).Abs()+time.Minute:
		return s.finding(CodeAgain, Warn, fmt.Sprintf("the same call again: %s, where the first said %s", slots.Stamp(*s.next), slots.Stamp(*first.next)), doSame)
	}
	return s.finding(CodeAgain, OK, "the same call again has the same answer", "")
}

// taken judges a call that a worker may make, too.
func taken(code, what, do string) func(first, s seen) Finding {
	return func(_, s seen) Finding {
		if s.err != nil {
			return s.finding(code, Bad, fmt.Sprintf("%s: %s", what, s.err), do)
		}
		return s.finding(code, OK, what+" is taken", "")
	}
}

// refused judges a call that a worker does not make.
func refused(code, what, consequence string) func(first, s seen) Finding {
	return func(_, s seen) Finding {
		switch {
		case s.err == nil, s.status/100 == 2 && s.status != nethttp.StatusOK:
			return s.finding(code, Bad, fmt.Sprintf("%s is taken (%d): %s", what, s.status, consequence), doRefuse)
		case s.status/100 == 4:
			return s.finding(code, OK, what+" is refused", "")
		}
		return s.finding(code, Warn, fmt.Sprintf("%s: %s; it is not refused in so many words", what, s.err), doRefuse)
	}
}

// unsigned is said where there is no secret.
func unsigned(headers bool) Finding {
	f := Finding{Code: CodeUnsigned, Severity: Warn, Text: "calls are not signed: " + consequenceAnybody, Do: "give a secret"}
	if headers {
		f.Severity, f.Text = Unseen, "calls are not signed: whether those without the headers are refused was not tried"
	}
	return f
}

// word is what an answer is called.
func (s seen) word() string {
	if s.next == nil {
		return "settled"
	}
	return "later"
}

func (s seen) finding(code string, severity Severity, text, do string) Finding {
	return Finding{Code: code, Severity: severity, Status: s.status, TookMS: s.took.Milliseconds(), Text: text, Do: do, Err: s.err}
}
