package event

import (
	"context"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

const (
	// MostMatching is how many events that a filter matches are sent again or dropped at a time: more go on behind the last of them.
	MostMatching = 1000
	// MostCounted is among how many events those are counted that a filter matches.
	MostCounted = 100_000
)

// Matching says which events are meant that were set aside: all that it matches.
type Matching struct {
	Topic string    `json:"topic,omitempty" query:"topic" doc:"Only of this topic."`
	ID    string    `json:"id,omitempty" query:"id" doc:"Only with this id."`
	All   bool      `json:"all,omitempty" query:"all" doc:"Whatever their topic and id are, where neither is given."`
	Until time.Time `json:"until,omitzero" query:"until" doc:"Only those that were refused at this time or before; now by default. For the rest: until of the answer before."`
	After uint64    `json:"after,string,omitempty" query:"after" doc:"Only those behind this number; for the rest: next of the answer before."`
}

// Matched is what became of events that a filter matches.
type Matched struct {
	Count   int       `json:"count" doc:"How many were sent again, or dropped."`
	Refused []string  `json:"refused" doc:"Why the tables do not take some again, which only drop ends: the first 10."`
	Until   time.Time `json:"until" doc:"The time up to which they were refused. One that is refused again is none of them."`
	Next    uint64    `json:"next,string,omitempty" doc:"There may be more than one deed takes: give this as after, for the rest."`
}

// MatchCount is how many events a filter matches.
type MatchCount struct {
	Count int       `json:"count"`
	Whole bool      `json:"whole" doc:"All were looked at, and not the first 100,000 alone."`
	Until time.Time `json:"until" doc:"The time up to which they were refused."`
}

// filter is the filter of a list, with the time up to which it goes.
func (o *Outbox) filter(ctx context.Context, db prescient.DB, m Matching) (f SetAsideFilter, err error) {
	if (m.Topic != "" || m.ID != "") == m.All {
		return f, fmt.Errorf("%w: give a topic or an id, or all", prescient.ErrInvalid)
	}
	if !m.Until.IsZero() && (m.Until.Before(prescient.EarliestDue) || m.Until.After(prescient.LatestSlot)) {
		return f, fmt.Errorf("%w: until %s: the database has no such time", prescient.ErrInvalid, m.Until.Format(time.RFC3339))
	}
	f = SetAsideFilter{Topic: m.Topic, ID: m.ID, After: m.After, Until: m.Until, Limit: MostMatching, Bare: true}
	if f.Until.IsZero() {
		f.Until, err = o.own.Now(ctx, db)
	}
	return f, err
}

// CountMatching counts what ResendMatching and DropMatching would meet, were they called until there is no more.
func (o *Outbox) CountMatching(ctx context.Context, db prescient.DB, m Matching) (is MatchCount, err error) {
	f, err := o.filter(ctx, db, m)
	if err != nil {
		return is, err
	}
	but, err := f.condition()
	if err != nil {
		return is, err
	}
	looked := 0
	err = store.QueryRow(ctx, db, []any{&looked, &is.Count}, o.tables.Fill("event/count_set_aside", "{but}", but), m.After, MostCounted)
	is.Whole, is.Until = looked < MostCounted, f.Until.UTC()
	return is, err
}

// ResendMatching is Resend for the first MostMatching events that a filter matches, in one transaction. What the tables do not take stays set aside, and
// is no error.
func (o *Outbox) ResendMatching(ctx context.Context, db prescient.DB, m Matching) (Matched, error) {
	defer o.Took()
	return o.matching(ctx, db, m, "resend", "event/resend", "event/forget_set_aside")
}

// DropMatching is Drop for the first MostMatching events that a filter matches, in one transaction.
func (o *Outbox) DropMatching(ctx context.Context, db prescient.DB, m Matching) (Matched, error) {
	return o.matching(ctx, db, m, "drop", "event/forget_set_aside")
}

func (o *Outbox) matching(ctx context.Context, db prescient.DB, m Matching, verb string, statements ...string) (is Matched, err error) {
	err = o.own.InTx(ctx, db, func(db prescient.DB) error {
		f, err := o.filter(ctx, db, m)
		if err != nil {
			return err
		}
		list, err := o.SetAside(ctx, db, f)
		if err != nil {
			return err
		}
		is = Matched{Refused: []string{}, Until: f.Until.UTC()}
		seqs := make([]uint64, len(list))
		for i, one := range list {
			seqs[i] = one.Seq
		}
		for some := range slices.Chunk(seqs, PerStatement) {
			n, refused, err := o.some(ctx, db, some, verb, statements)
			if err != nil {
				return err
			}
			is.Count += n
			for _, why := range refused[:min(len(refused), mostNamed-len(is.Refused))] {
				is.Refused = append(is.Refused, why.Error())
			}
		}
		if len(seqs) == MostMatching {
			is.Next = seqs[len(seqs)-1]
		}
		return nil
	})
	return is, err
}
