package demo

import (
	"fmt"
	"time"

	"prescient/prescient/forecast"
)

// foretold is what a forecast said of a slot, and what the slot then had by the ledger.
type foretold struct {
	Slot   time.Time    `json:"slot"`
	MadeAt time.Time    `json:"made_at"`
	How    forecast.How `json:"how"`
	// Due is how many checks were pending for it, Occurrences how many of the schedule were to come.
	Due         int64 `json:"due"`
	Occurrences int64 `json:"occurrences"`
	// EndsAt is when its last call was to end; nil where nobody knew how long calls take.
	EndsAt *time.Time `json:"ends_at"`
	// Had is how many it had in hand, Cancelled how many were cancelled after the forecast. What was inserted since is among them.
	Had       int64 `json:"had"`
	Cancelled int64 `json:"cancelled"`
	// EndedAt is when its last call had ended, by the books of its job_execs; nil where none was made.
	EndedAt *time.Time `json:"ended_at"`
}

// busiest is the slot with the most checks of those that begin after the forecast was made, and before some time; nil where none has any.
func busiest(report forecast.Report, before time.Time) (most *foretold) {
	for _, p := range report.Slots {
		if p.Start.After(report.MadeAt) && p.Start.Before(before) && p.Due > 0 && (most == nil || p.Due > most.Due) {
			most = &foretold{Slot: p.Start, MadeAt: report.MadeAt, How: p.How, Due: p.Due, Occurrences: p.Occurrences, EndsAt: p.EndsAt}
		}
	}
	return most
}

// String is the line of the books.
func (t foretold) String() string {
	after := func(at *time.Time) string {
		if at == nil {
			return "an unknown time"
		}
		return fmt.Sprint(at.Sub(t.Slot).Round(time.Millisecond))
	}
	return fmt.Sprintf("of the slot %s, %s ahead: %d checks, the last call done after %s; it had %d, done after %s (%d were cancelled since, others inserted)",
		t.Slot.Format(time.TimeOnly), t.Slot.Sub(t.MadeAt).Round(100*time.Millisecond), t.Due+t.Occurrences, after(t.EndsAt), t.Had, after(t.EndedAt), t.Cancelled)
}
