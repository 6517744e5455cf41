package advice

import (
	"fmt"
	"time"

	"prescient/prescient/advice/estimate"
	"prescient/slots"
)

// Notes are what is to be known of an advice, a few words each.
func Notes(a estimate.Advice) (notes []string) {
	if a.OutOfReach {
		notes = append(notes, "no plan finds it as early as was asked for")
	}
	if a.Differ != nil {
		notes = append(notes, "those inserted later differ: look from "+a.Differ.UTC().Format("2006-01-02 15:04:05")+" (UTC)")
	}
	if a.Guessed >= 0.2 {
		notes = append(notes, fmt.Sprintf("guessed: %.0f %% happened between two checks with several of these between", 100*a.Guessed))
	}
	if late := a.WorkersLate; late > 60 && late > a.Now.LateSeconds/10 {
		notes = append(notes, "workers were "+Age(late)+" late besides")
	}
	if a.Curve != nil && len(a.Curve.Day) > 0 {
		notes = append(notes, "by the time of day")
	}
	if a.Learned > 0 && 4*a.Regular < 3*a.Learned {
		notes = append(notes, fmt.Sprintf("distances differ: %d of %d checks are regular", a.Regular, a.Learned))
	}
	return notes
}

// Age is a number of seconds for people: 90s, 1h30m.
func Age(seconds float64) string {
	d := time.Duration(seconds * float64(time.Second))
	if d > 10*time.Minute {
		return slots.Short(d.Round(time.Minute))
	}
	return slots.Short(d.Round(time.Second))
}
