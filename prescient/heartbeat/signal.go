package heartbeat

import "prescient/prescient"

// Signal is what a service is told of.
type Signal string

// The signals.
const (
	Start   Signal = "start"
	Success Signal = "success"
	Failure Signal = "failure"
)

// Of is the signal of how a check ended; false where the end says nothing of its work: the app has ended it, or it made way for another run of
// its schedule. One that used up its quota goes on in the next run, and is no failure. It is a pure function.
func Of(outcome prescient.Outcome) (signal Signal, tells bool) {
	switch outcome {
	case prescient.Done, prescient.Quota:
		return Success, true
	case prescient.MaxChecks, prescient.PastReturn, prescient.BeyondHorizon, prescient.Failed, prescient.TimedOut, prescient.Crashed, prescient.Expired,
		prescient.Missed:
		return Failure, true
	case prescient.TooSoon, prescient.Overlapped, prescient.Cancelled, prescient.Superseded:
	}
	return "", false
}
