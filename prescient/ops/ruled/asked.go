package ruled

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/rule"
	"prescient/prescient/rulebook"
)

// Named names a rule.
type Named struct {
	Name string `json:"name" query:"name" required:"true" doc:"The name of the rule."`
}

// VersionsAsked says which versions of a rule are wanted.
type VersionsAsked struct {
	Named
	Before uint32 `query:"before" maximum:"4294967295" doc:"Only versions before this one."`
	Limit  int    `query:"limit" default:"20" minimum:"1" maximum:"100" doc:"How many, the latest first."`
}

// Previewed is a change of a rule that is to be looked at before it is made.
type Previewed struct {
	Named
	DelayMS  int64 `query:"delay_ms" minimum:"0" maximum:"316224000000" doc:"The delay that it is to have."`
	SpreadMS int64 `query:"spread_ms" minimum:"0" maximum:"316224000000" doc:"The spread that it is to have."`
	End      bool  `query:"end" doc:"What is pending is to be ended."`
}

// Preview looks for what would become of what is pending, for as long as within.
func (a Previewed) Preview(ctx context.Context, book *rulebook.Book, db *sqlx.DB, within time.Duration) (rulebook.Preview, error) {
	if a.End {
		return book.PreviewEnd(ctx, db, a.Name, within)
	}
	last, err := book.Versions(ctx, db, a.Name, 0, 1)
	if err != nil || len(last) == 0 {
		return rulebook.Preview{Whole: true}, err
	}
	r := last[0].Rule // whose job_exec never changes
	r.Delay, r.Spread = millis(a.DelayMS), millis(a.SpreadMS)
	return book.Preview(ctx, db, r, within)
}

// Tried is a rule that is to be tried on what happened.
type Tried struct {
	Occasion string    `query:"occasion" required:"true" doc:"What makes its checks."`
	DelayMS  int64     `query:"delay_ms" minimum:"0" maximum:"316224000000" doc:"Its delay."`
	SpreadMS int64     `query:"spread_ms" minimum:"0" maximum:"316224000000" doc:"Its spread."`
	From     time.Time `query:"from" doc:"What happened from then on, a week before the end by default."`
	Before   time.Time `query:"before" doc:"What happened before then, now by default."`
}

// Rule is the rule that is tried.
func (t Tried) Rule() rule.Rule {
	return rule.Rule{Name: "tried", Occasion: t.Occasion, JobExec: "tried", Delay: millis(t.DelayMS), Spread: millis(t.SpreadMS)}
}

// Setting makes a rule, or changes one.
type Setting struct {
	Definition
	New     bool       `json:"new,omitempty" doc:"Refuse it where there is a rule of the name."`
	Version uint32     `json:"version,omitempty" maximum:"4294967295" doc:"Refuse it where the rule has another version by now."`
	Older   rule.Older `json:"older,omitempty" enum:"move,leave" doc:"What becomes of what is pending by older versions; move by default."`
}

// Set says what a change of a rule did.
type Set struct {
	Changed bool   `json:"changed" doc:"False where it said so already."`
	Version uint32 `json:"version" doc:"The version that it has now."`
}

// Set makes or changes the rule.
func (s Setting) Set(ctx context.Context, book *rulebook.Book, db prescient.DB) (did Set, err error) {
	if s.New {
		did.Version, err = book.Create(ctx, db, s.Defined())
		did.Changed = err == nil
		return did, err
	}
	did.Changed, did.Version, err = book.Put(ctx, db, s.Defined(), s.Version, s.Older)
	return did, err
}

// Switching switches a rule off, or deletes it.
type Switching struct {
	Named
	End bool `json:"end,omitempty" doc:"End what is pending, by and by. It stays by default, and is still ended by its occasions."`
}

// Older is what becomes of what is pending.
func (s Switching) Older() rule.Older {
	if s.End {
		return rule.End
	}
	return rule.Leave
}

// Reporting is an occasion that an app reports.
type Reporting struct {
	Occasion string          `json:"occasion" minLength:"1" maxLength:"64" doc:"What happened, such as order.placed."`
	Entity   string          `json:"entity" doc:"To what: name/key, as in order/42."`
	At       time.Time       `json:"at,omitzero" required:"false" doc:"When it happened; now by default."`
	Data     json.RawMessage `json:"data,omitempty" doc:"A JSON object, which is merged into the payload of the rule."`
}
