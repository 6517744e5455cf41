package longrun

import "prescient/prescient"

// maxWaiting is how many waiting checks an agent remembers. The slots that meet the others again start them.
const maxWaiting = 10000

// waiting is a check that is due, and has no place here, or comes behind another run of its schedule. It waits in future_job like any
// other, for whichever worker runs its next slot; this agent remembers it, so that it starts when a place comes free.
type waiting struct {
	start  func(w waiting) error
	job    prescient.FutureJob
	behind string        // the schedule; empty where it waits for a place
	other  prescient.Key // the run that it comes behind
	ours   bool          // which is this agent's
}

// waitingList are those that an agent remembers.
type waitingList map[prescient.Key]waiting

// remember remembers a check.
func (l waitingList) remember(w waiting) {
	key := w.job.Key()
	if _, is := l[key]; is || len(l) < maxWaiting {
		l[key] = w
	}
}

// take takes the check that is to start next, the earliest first: one that waits for a place, or for a run of a schedule that has ended.
func (l waitingList) take(ended string) (next waiting, ok bool) {
	for _, w := range l {
		if w.behind != "" && w.behind != ended {
			continue
		}
		if !ok || w.job.DueAt.Before(next.job.DueAt) {
			next, ok = w, true
		}
	}
	if ok {
		delete(l, next.job.Key())
	}
	return next, ok
}
