package rulebook

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/rule"
)

// Tried is what a rule would have made of what happened in a stretch of time, as far as the checks of another rule of its occasion show: that witness was
// told when the occasion was, to a moment, and when it ended.
type Tried struct {
	Witness string `json:"witness"`
	// Since is when the witness was made or switched on; zero where it is off. What happened before then made no check, unless it was on before.
	Since time.Time `json:"since,omitzero"`
	From  time.Time `json:"from"`
	To    time.Time `json:"to"`
	// Whole is false where not all ends since From were looked at in the time that there was.
	Whole bool `json:"whole"`
	// Occasions are how often it happened. Of the checks that the rule would have made of them, Ended would have been ended by an occasion, Called would have been
	// called, and of Open nobody knows: the witness was called before, or their time is to come.
	Occasions int `json:"occasions"`
	Ended     int `json:"ended"`
	Called    int `json:"called"`
	Open      int `json:"open"`
	// Peak is how many of the called would have had one slot, PeakAt.
	Peak   int       `json:"peak"`
	PeakAt time.Time `json:"peak_at,omitzero"`
}

// Why says for people why nothing was counted; it is empty where something was.
func (t Tried) Why() string {
	switch {
	case t.Occasions > 0:
		return ""
	case t.Since.After(t.From):
		return fmt.Sprintf("Rule %s was made or switched on at %s (UTC): what happened before made no check, so history has none to count.", t.Witness, t.Since.Format(time.DateTime))
	}
	return fmt.Sprintf("No check of rule %s that was made in that time is pending or in history: nobody reported the occasion, the rule was off, or history was pruned.", t.Witness)
}

// stretch is how much of history is read at a time.
const stretch = time.Hour

// Try says what a rule would have made of what happened between two times, for as long as within. The witness is the rule of the same occasion with the
// longest delay, which may be an earlier version of the rule itself. The error wraps ErrNotFound where there is none. What it goes by is history: the times
// of occasions are those of the inserts, and an occasion that the witness does not know of ends nothing.
func (b *Book) Try(ctx context.Context, db *sqlx.DB, r rule.Rule, from, to time.Time, within time.Duration) (t Tried, err error) {
	if err := r.Validate(); err != nil {
		return t, err
	}
	if !from.Before(to) {
		return t, fmt.Errorf("%w: from %s to %s: the first time is to be before the other", prescient.ErrInvalid, literal.Of(literal.AppendMicro, from), literal.Of(literal.AppendMicro, to))
	}
	all, err := rule.ReadAll(ctx, db, b.tables)
	if err != nil {
		return t, err
	}
	longest := time.Duration(-1)
	for _, k := range all {
		if k.Occasion == r.Occasion && k.Delay+k.Spread > longest {
			longest, t.Witness, t.Since = k.Delay+k.Spread, k.Rule.Name, time.Time{}
			if k.State == rule.On {
				t.Since = k.Since.UTC()
			}
		}
	}
	if t.Witness == "" {
		return t, fmt.Errorf("%w of occasion %s: nobody knows when it happened", ErrNotFound, r.Occasion)
	}
	now, err := b.client.Now(ctx, db)
	if err != nil {
		return t, err
	}
	t.From, t.To = from.UTC(), to.UTC()
	trying := trial{rule: r, now: now, tried: &t, slots: make(map[time.Time]int), ceil: b.tables.Grid.Ceil}
	until := time.Now().Add(within)
	for at := t.From; at.Before(now); at = at.Add(stretch) {
		if !time.Now().Before(until) {
			return t, nil
		}
		if err := b.readEnds(ctx, db, t.Witness, at, &trying); err != nil {
			return t, err
		}
	}
	witness := Stored{}
	witness.Rule.Name, witness.MovedTo = t.Witness, math.MaxUint32
	behind, more := store.Place{Slot: prescient.EarliestDue}, true
	for more {
		if !time.Now().Before(until) {
			return t, nil
		}
		to, further, err := b.tables.EndOfPage(ctx, db, behind, pageRows)
		if err != nil {
			return t, err
		}
		rows, err := b.older(ctx, db, witness, behind, to, further)
		if err != nil {
			return t, err
		}
		for _, row := range rows {
			if at := row.InsertedAt; !at.Before(t.From) && at.Before(t.To) {
				trying.pending(row.Entity(), at)
			}
		}
		behind, more = to, further
	}
	t.Whole = true
	return t, nil
}

// readEnds reads a stretch of history.
func (b *Book) readEnds(ctx context.Context, db *sqlx.DB, witness string, at time.Time, trying *trial) error {
	micro := func(t time.Time) string { return literal.Of(literal.AppendMicro, t) }
	query := b.tables.Fill("rule/ended", "{from}", micro(at), "{to}", micro(at.Add(stretch)), "{since}", micro(trying.tried.From), "{until}", micro(trying.tried.To), "{tag}", text(rule.TagOf(witness)))
	err := b.tables.EachOf(ctx, db, math.MaxInt, func(scan store.Scan) error {
		var e prescient.Entity
		var inserted, ended time.Time
		var outcome prescient.Outcome
		if err := scan(&e.Name, &e.Key, &inserted, &ended, &outcome); err != nil {
			return err
		}
		trying.end(e, inserted, ended, outcome)
		return nil
	}, query)
	if err != nil {
		return fmt.Errorf("reading how checks of rule %s ended: %w", witness, err)
	}
	return nil
}

// trial counts what a rule would have made.
type trial struct {
	rule  rule.Rule
	now   time.Time
	tried *Tried
	slots map[time.Time]int // how many would have been called in each
	ceil  func(time.Time) time.Time
}

// end counts an occasion whose witness ended.
func (t *trial) end(e prescient.Entity, at, ended time.Time, outcome prescient.Outcome) {
	t.tried.Occasions++
	switch due := t.rule.Due(e, at); {
	case outcome.ByApp() && ended.Before(due):
		t.tried.Ended++
	case ended.Before(due) || due.After(t.now):
		t.tried.Open++
	default:
		t.called(due)
	}
}

// pending counts an occasion whose witness is pending: nothing has ended it.
func (t *trial) pending(e prescient.Entity, at time.Time) {
	t.tried.Occasions++
	if due := t.rule.Due(e, at); due.After(t.now) {
		t.tried.Open++
	} else {
		t.called(due)
	}
}

func (t *trial) called(due time.Time) {
	t.tried.Called++
	slot := t.ceil(due)
	if t.slots[slot]++; t.slots[slot] > t.tried.Peak {
		t.tried.Peak, t.tried.PeakAt = t.slots[slot], slot
	}
}
