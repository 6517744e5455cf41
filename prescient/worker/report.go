package worker

import (
	"sync"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient/worker/books"
)

// report writes what a slot run has in the log: a line with its figures, and one at warn for each trouble that it had.
func (w *Worker) report(figures books.Figures, err error, what string) {
	event := w.log.Info()
	switch {
	case err != nil:
		event = w.log.Error().Err(err)
	case figures.OverSLA > 0:
		event = w.log.Warn()
	}
	event.EmbedObject(figures).Msg(what)
	w.reportTroubles(figures)
}

// troubleTexts are what the log says of a trouble; of those that are not here, that the checks ended.
var troubleTexts = map[books.TroubleKind]string{
	books.TroubleError:        "calls answered with an error",
	books.TroubleTimeout:      "calls timed out",
	books.TroublePanic:        "calls panicked",
	books.TroubleUnregistered: "this worker has no such job_exec: its checks are put off, further each time",
	books.TroublePutOff:       "checks are put off: too many calls of this job_exec ignored their timeout and still run",
}

// reportTroubles writes a line for each kind of trouble of each job_exec. Names that are not registered are said once an
// hour: their rows come again and again.
func (w *Worker) reportTroubles(figures books.Figures) {
	for _, t := range figures.Troubles {
		if t.Kind == books.TroubleUnregistered && !w.unregistered.first(t.JobExec, time.Now()) {
			continue
		}
		text, ok := troubleTexts[t.Kind]
		if !ok {
			text = "checks ended unsettled"
		}
		w.log.Warn().Time("slot", figures.Slot).EmbedObject(t).Msg(text)
	}
}

// hourSum sums up the slots that Work has run in an hour: one line for all those that were empty. The hours are those of the
// slots, so that it takes neither a timer nor a look at the clock.
type hourSum struct {
	mu  sync.Mutex
	sum slotSum
}

// slotSum is what some slots came to.
type slotSum struct {
	since, last                time.Time // the first and the last slot
	slots, empty, paused, rows int
	// Rows that something went wrong with, by the names that a slot's own line has. The rest are unsettled: checks that ended so, or were put
	// off since too many calls ignored their timeout.
	errors, timeouts, panics, unregistered, unsettled int
}

// count is where rows with a kind of trouble are counted.
func (s *slotSum) count(kind books.TroubleKind) *int {
	switch kind {
	case books.TroubleError:
		return &s.errors
	case books.TroubleTimeout:
		return &s.timeouts
	case books.TroublePanic:
		return &s.panics
	case books.TroubleUnregistered:
		return &s.unregistered
	}
	return &s.unsettled
}

// begin notes that a slot is about to be run. They come in order, unless the clock was set back. It returns what the hour
// before came to, where the slot is the first of another; zero otherwise.
func (t *hourSum) begin(slot time.Time) (over slotSum) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slot.Truncate(time.Hour).Equal(t.sum.since.Truncate(time.Hour)) {
		over, t.sum = t.sum, slotSum{since: slot}
	}
	t.sum.last = slot
	return over
}

// add adds a slot that was run. It says whether that is worth a line of its own: there was something to be done, or it is
// the first of the hour that was paused.
func (t *hourSum) add(figures books.Figures) (notable bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum.slots++
	t.sum.rows += figures.Rows()
	for _, trouble := range figures.Troubles {
		*t.sum.count(trouble.Kind) += trouble.Rows
	}
	switch {
	case figures.Paused:
		t.sum.paused++
		return t.sum.paused == 1
	case figures.Idle():
		t.sum.empty++
		return false
	}
	return true
}

// end returns what there is since the last hour was over.
func (t *hourSum) end() slotSum {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.sum
}

// reportSlot is report for a slot that Work has run: at debug where nothing was to be done, which its hour sums up. Slots of an hour or more have a
// line each.
func (w *Worker) reportSlot(hour *hourSum, figures books.Figures, err error) {
	if notable := hour.add(figures); !notable && err == nil && w.hasHours() {
		w.log.Debug().EmbedObject(figures).Msg("slot run")
		return
	}
	w.report(figures, err, "slot run")
}

// hasHours says whether several slots come within an hour.
func (w *Worker) hasHours() bool { return w.tables.Grid.Resolution() < time.Hour }

// reportHour writes what the slots of an hour came to.
func (w *Worker) reportHour(sum slotSum) {
	if sum.slots == 0 || !w.hasHours() {
		return
	}
	w.log.Info().EmbedObject(sum).Msg("slots served")
}

// MarshalZerologObject writes what there is of pauses and troubles, and the rest always.
func (s slotSum) MarshalZerologObject(e *zerolog.Event) {
	e.Time("since", s.since).Time("last", s.last).Int("slots", s.slots).Int("empty", s.empty).Int("rows", s.rows)
	for _, n := range []struct {
		name string
		n    int
	}{{"paused", s.paused}, {"errors", s.errors}, {"timeouts", s.timeouts}, {"panics", s.panics}, {"unregistered", s.unregistered}, {"unsettled", s.unsettled}} {
		if n.n > 0 {
			e.Int(n.name, n.n)
		}
	}
}
