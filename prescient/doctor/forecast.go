package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"prescient/prescient/forecast"
	"prescient/slots"
)

// namedSlots is how many slots a finding of the forecast names.
const namedSlots = 3

// examineForecast looks for slots to come that will not end in time.
func (l *look) examineForecast(ctx context.Context) {
	report, err := forecast.SlotsBy(ctx, l.db, l.tables.Stmt)
	switch {
	case errors.Is(err, forecast.ErrNone):
		l.say(fine("forecast", "No forecast was made yet. `work` makes one each minute, and so do timers."))
		return
	case err != nil:
		l.err = err
		return
	}
	l.say(l.judgeForecast(report))
}

func (d *doctor) judgeForecast(r forecast.Report) Finding {
	age := d.now.Sub(r.MadeAt).Round(time.Second)
	old := max(forecast.Old, 2*d.tables.Grid.Resolution()) // timers come once a slot
	if age > old {
		return unseen("forecast", fmt.Sprintf("The last forecast is %s old.", age), "See that `work` or a timer of this version runs: it makes the forecast each minute, and its log says what keeps it from that.")
	}
	var late, starts []string
	dark, unknown := 0, int64(0)
	for _, p := range r.Slots {
		if p.Verdict.Late() && len(starts) < namedSlots {
			starts = append(starts, slots.Stamp(p.Start))
		}
		switch {
		case p.Verdict == forecast.Unknown:
			dark++
			unknown += p.Unknown
		case p.Verdict == forecast.Next && p.EndsAt != nil:
			late = append(late, fmt.Sprintf("%s with %s ends %s, %s after the next begins", slots.Stamp(p.Start), counted(int(p.Due+p.Occurrences), "check", "checks"), slots.Stamp(p.EndsAt.Truncate(time.Second)), p.Over.Duration().Round(time.Second)))
		case p.Verdict == forecast.SLA && p.LastStartAt != nil:
			late = append(late, fmt.Sprintf("%s with %s starts its last one %s, %s past the SLA of %s", slots.Stamp(p.Start), counted(int(p.Due+p.Occurrences), "check", "checks"), slots.Stamp(p.LastStartAt.Truncate(time.Second)), p.Over.Duration().Round(time.Second), p.Fit.JobExec))
		}
	}
	also := ""
	if dark > 0 {
		also = fmt.Sprintf(" Slots of which nobody knows it: %s. The run time of %s of their calls is not known.", many(dark), many(int(unknown)))
	}
	if len(late) == 0 {
		return fine("forecast", fmt.Sprintf("By the forecast, which is %s old, all slots to come end in time, as far as run times are known.%s", age, also))
	}
	count := counted(len(late), "slot to come does not end", "slots to come do not end")
	if len(late) > namedSlots {
		late = append(late[:namedSlots], "and more")
	}
	return warn("forecast", fmt.Sprintf("By the forecast, which is %s old, %s in time: %s.%s", age, count, strings.Join(late, "; "), also),
		"See `forecast`. Start more agents for these slots, raise worker.concurrency or the guard concurrency of their job_execs, or spread the checks (`insert --spread`).").about(starts...)
}
