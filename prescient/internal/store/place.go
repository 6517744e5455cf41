package store

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
)

// Place is where a check stands among those that are pending: in a slot, by its key.
type Place struct {
	Slot time.Time
	Key  prescient.Key
}

// EndOf is behind all checks of a slot, or of those before a time that is none.
func EndOf(slot time.Time) Place {
	p := Place{Slot: slot}
	for i := range p.Key {
		p.Key[i] = 0xff
	}
	return p
}

// EndOfPage is where the next page of so many pending checks behind a place ends; more is false for the last one.
func (t Tables) EndOfPage(ctx context.Context, db prescient.DB, from Place, rows int) (to Place, more bool, err error) {
	query := t.Fill("list/end_of_page", append(from.behind(), "{rows}", literal.Of(literal.AppendInt, int64(rows-1)))...)
	found, err := Rows(ctx, db, "looking for the next page", query, func(p *Place) []any { return []any{&p.Slot, Key(&p.Key)} })
	if err != nil || len(found) == 0 {
		return Place{}, false, err
	}
	return found[0], true, nil
}

// EndUpTo is EndOfPage of what is pending up to a second: where that has no more, the page ends there.
func (t Tables) EndUpTo(ctx context.Context, db prescient.DB, from Place, last time.Time, rows int) (to Place, more bool, err error) {
	if to, more, err = t.EndOfPage(ctx, db, from, rows); !more || to.Slot.After(last) {
		return EndOf(last), false, err
	}
	return to, true, nil
}

// Page are the {slot}, {key} and {until} of a statement that reads the page of pending checks, which it calls job, behind a place: to where it ends, unless it
// is the last one.
func Page(from, to Place, more bool) []string {
	until := ""
	if more {
		until = fmt.Sprintf("AND (job.next_check_at < %s OR job.next_check_at = %[1]s AND job.job_key <= %s)", literal.Of(literal.AppendSecond, to.Slot), literal.Of(literal.AppendKey, to.Key))
	}
	return append(from.behind(), "{until}", until)
}

func (p Place) behind() []string {
	return []string{"{slot}", literal.Of(literal.AppendSecond, p.Slot), "{key}", literal.Of(literal.AppendKey, p.Key)}
}
