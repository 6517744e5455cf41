package rulebook

import (
	"context"
	"math"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/rule"
)

// sampled is how many checks a preview shows.
const sampled = 5

// Preview is what a change would do to what is pending.
type Preview struct {
	// Moves are how many checks it moves, and Late how many of these were to be called earlier than now by what it says. Stays are those that others have
	// moved, or that were called.
	Moves int `json:"moves"`
	Late  int `json:"late"`
	Stays int `json:"stays"`
	// Ends are how many it ends.
	Ends int `json:"ends,omitempty"`
	// Whole is false where not all that is pending was looked at in the time that there was.
	Whole bool `json:"whole"`
	// Samples are some of those that it moves or ends.
	Samples []Sample `json:"samples,omitempty"`
}

// Sample is a check that a change moves or ends.
type Sample struct {
	Entity string    `json:"entity"`
	DueAt  time.Time `json:"due_at"`
	To     time.Time `json:"to,omitzero"`
}

// Preview looks for what a change of a rule would move, for as long as within. It changes and locks nothing. Of a rule that is not there it is empty.
func (b *Book) Preview(ctx context.Context, db *sqlx.DB, r rule.Rule, within time.Duration) (p Preview, err error) {
	return b.preview(ctx, db, r, rule.Move, within)
}

// PreviewEnd is Preview of what would be ended, were the pending checks of a rule to be. The error wraps ErrNotFound.
func (b *Book) PreviewEnd(ctx context.Context, db *sqlx.DB, name string, within time.Duration) (p Preview, err error) {
	one, err := b.Get(ctx, db, name)
	if err != nil {
		return p, err
	}
	return b.preview(ctx, db, one.Rule, rule.End, within)
}

func (b *Book) preview(ctx context.Context, db *sqlx.DB, r rule.Rule, older rule.Older, within time.Duration) (p Preview, err error) {
	if err := r.Validate(); err != nil {
		return p, err
	}
	now, err := b.client.Now(ctx, db)
	if err != nil {
		return p, err
	}
	all := Stored{}
	all.Rule, all.MovedTo, all.EndedTo = r, math.MaxUint32, 0
	until, from, more := time.Now().Add(within), store.Place{Slot: prescient.EarliestDue}, true
	for more && time.Now().Before(until) {
		var to store.Place
		if to, more, err = b.tables.EndOfPage(ctx, db, from, pageRows); err != nil {
			return p, err
		}
		rows, err := b.older(ctx, db, all, from, to, more)
		if err != nil {
			return p, err
		}
		if err := b.count(ctx, db, r, older, rows, now, &p); err != nil {
			return p, err
		}
		from = to
	}
	p.Whole = !more
	return p, nil
}

// count counts what would become of some checks of a rule.
func (b *Book) count(ctx context.Context, db *sqlx.DB, r rule.Rule, older rule.Older, rows []prescient.FutureJob, now time.Time, p *Preview) error {
	if len(rows) == 0 {
		return nil
	}
	seen := make(map[rule.Of]bool)
	var asked []rule.Of
	for _, row := range rows {
		if of := (rule.Of{Name: r.Name, Version: row.RuleVersion}); !seen[of] {
			seen[of] = true
			asked = append(asked, of)
		}
	}
	says, err := b.versions.Read(ctx, db, b.tables, asked)
	if err != nil {
		return err
	}
	for _, row := range rows {
		made, known := says[rule.Of{Name: r.Name, Version: row.RuleVersion}]
		to, may := r.Moved(row, row.RuleVersion, now)
		switch {
		case older == rule.End && known && row.JobExec == r.JobExec:
			if p.Ends++; len(p.Samples) < sampled {
				p.Samples = append(p.Samples, Sample{Entity: row.Entity().String(), DueAt: row.DueAt})
			}
			continue
		case !known || !may || !made.Holds(row):
			p.Stays++
			continue
		case to.DueAt.Equal(row.DueAt):
			continue
		case to.DueAt.Before(row.DueAt) && !to.DueAt.After(now):
			p.Late++
		}
		if p.Moves++; len(p.Samples) < sampled {
			p.Samples = append(p.Samples, Sample{Entity: row.Entity().String(), DueAt: row.DueAt, To: to.DueAt})
		}
	}
	return nil
}
