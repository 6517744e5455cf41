package longrun

import "prescient/prescient"

// Observer is told of the calls of long runs, and of their ends, by the agent that makes them. Fields that are nil are not called. The functions
// are called from several goroutines at a time, and should be quick.
type Observer struct {
	// Calling is called before each call of a run: also where it goes on, or is tried again.
	Calling func(check prescient.FutureJob)
	// Ended is called once the end of a run is committed: by its call, or by the agent that claimed it; not where the answer to the COMMIT was
	// lost. What a slot run ends, worker.Observer is told of.
	Ended func(check prescient.FutureJob, outcome prescient.Outcome)
}

func (o *Observer) calling(check prescient.FutureJob) {
	if o != nil && o.Calling != nil {
		o.Calling(check)
	}
}

func (o *Observer) ended(check prescient.FutureJob, outcome prescient.Outcome) {
	if o != nil && o.Ended != nil && outcome != "" {
		o.Ended(check, outcome)
	}
}
