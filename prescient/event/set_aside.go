package event

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// PerStatement is how many events that were set aside one statement sends again or drops.
const PerStatement = 100

// MaxSetAside is the most events that a list of those that were set aside has.
const MaxSetAside = 10_000

// SetAside is an event that a broker refused for good.
type SetAside struct {
	// Seq is the number by which Resend and Drop know it.
	Seq         uint64    `json:"seq"`
	ID          string    `json:"id"`
	Topic       string    `json:"topic"`
	Key         string    `json:"key"`
	GeneratedAt time.Time `json:"generated_at"`
	InsertedAt  time.Time `json:"inserted_at"`
	RefusedAt   time.Time `json:"refused_at"`
	// Bytes is how long its payload is.
	Bytes  int    `json:"bytes"`
	Reason string `json:"reason"`
}

// SetAsideFilter chooses events that were set aside; the zero value is the first 100 of all.
type SetAsideFilter struct {
	// Topic and ID are what they have; empty for any.
	Topic, ID string
	// After is the Seq after which they come.
	After uint64
	// Until is the time up to which they were refused; zero for any.
	Until time.Time
	// Limit is how many, 100 by default, MaxSetAside at most.
	Limit int
	// Bare leaves out Bytes, for who may not see payloads.
	Bare bool
}

// SetAside lists events that were set aside, in the order in which they were published first.
func (o *Outbox) SetAside(ctx context.Context, db prescient.DB, filter SetAsideFilter) (all []SetAside, err error) {
	limit := cmp.Or(filter.Limit, 100)
	if limit < 1 || limit > MaxSetAside {
		return nil, fmt.Errorf("%w: limit %d: 1 to %d are allowed", prescient.ErrInvalid, filter.Limit, MaxSetAside)
	}
	but, err := filter.condition()
	if err != nil {
		return nil, err
	}
	bytes := "COALESCE(LENGTH(payload), 0)"
	if filter.Bare {
		bytes = "0"
	}
	query := o.tables.Fill("event/list_set_aside", "{bytes}", bytes, "{but}", but)
	return store.Rows(ctx, db, "listing events that were set aside", query, func(s *SetAside) []any {
		return []any{&s.Seq, &s.ID, &s.Topic, &s.Key, &s.GeneratedAt, &s.InsertedAt, &s.RefusedAt, &s.Bytes, &s.Reason}
	}, filter.After, limit)
}

// condition is what narrows the list, as SQL behind another condition. The error wraps prescient.ErrInvalid.
func (filter SetAsideFilter) condition() (string, error) {
	if !utf8.ValidString(filter.ID) || strings.ContainsFunc(filter.Topic, func(r rune) bool { return r > unicode.MaxASCII }) {
		return "", fmt.Errorf("%w: topic %.80q, id %.80q: ASCII and UTF-8 are allowed", prescient.ErrInvalid, filter.Topic, filter.ID) // what servers take for a mistake in the statement
	}
	var but []byte
	if filter.Topic != "" {
		but = append(literal.AppendText(append(but, "AND topic = "...), filter.Topic), ' ')
	}
	if filter.ID != "" {
		but = append(literal.AppendText(append(but, "AND id = "...), filter.ID), ' ')
	}
	if !filter.Until.IsZero() {
		but = append(literal.AppendMicro(append(but, "AND refused_at <= "...), filter.Until), ' ')
	}
	return string(but), nil
}

// Resend puts events that were set aside into the outbox again, behind what is there, and says how many. Those that are gone
// meanwhile are left out. What the tables refuse, as plain SQL can have written it before they had bounds, stays set aside: the error wraps
// ErrInvalid and names it, and the others are resent. On a pool some of them may be there, and others not, after another error.
func (o *Outbox) Resend(ctx context.Context, db prescient.DB, seqs ...uint64) (n int, err error) {
	defer o.Took()
	return o.each(ctx, db, seqs, "resend", "event/resend", "event/forget_set_aside")
}

// Drop deletes events that were set aside, and says how many. They are never published.
func (o *Outbox) Drop(ctx context.Context, db prescient.DB, seqs ...uint64) (n int, err error) {
	return o.each(ctx, db, seqs, "drop", "event/forget_set_aside")
}

// each runs statements on events that were set aside, some hundred at a time, and says how many the last one met. The verb is that of
// their entries in the audit. What the tables refuse costs itself alone, and the error names it.
func (o *Outbox) each(ctx context.Context, db prescient.DB, seqs []uint64, verb string, statements ...string) (n int, err error) {
	var refused []error
	for some := range slices.Chunk(slices.Sorted(slices.Values(seqs)), PerStatement) {
		met, no, err := o.some(ctx, db, some, verb, statements)
		if n, refused = n+met, append(refused, no...); err != nil {
			return n, err
		}
	}
	if more := len(refused) - mostNamed; more > 0 {
		refused = append(refused[:mostNamed], fmt.Errorf("and %d more", more))
	}
	return n, errors.Join(refused...)
}

// mostNamed is how many events an error names.
const mostNamed = 10

// some is each for one statement's worth: halves of it, where the tables refuse one of them, until that is alone.
func (o *Outbox) some(ctx context.Context, db prescient.DB, seqs []uint64, verb string, statements []string) (met int, refused []error, err error) {
	list := make([]string, len(seqs))
	for i, seq := range seqs {
		list[i] = fmt.Sprint(seq)
	}
	err = o.own.InTx(ctx, db, func(db prescient.DB) error {
		entries, err := o.entries(ctx, db, strings.Join(list, ","), verb)
		if err != nil {
			return err
		}
		for _, statement := range statements {
			if met, err = store.Affected(ctx, db, o.tables.Fill(statement, "{seqs}", strings.Join(list, ","))); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return o.log.Record(ctx, db, entries...)
	})
	switch {
	case !errno.KeepsRow(err):
		return met, nil, err
	case len(seqs) == 1:
		return 0, []error{fmt.Errorf("%w: event %d, which was set aside: the tables take no such event, and only drop it: %w", prescient.ErrInvalid, seqs[0], err)}, nil
	}
	met = 0
	for half := range slices.Chunk(seqs, (len(seqs)+1)/2) {
		n, no, err := o.some(ctx, db, half, verb, statements)
		if met, refused = met+n, append(refused, no...); err != nil {
			return met, refused, err
		}
	}
	return met, refused, nil
}

// setAside is an event that was set aside as it stands in the audit.
type setAside struct {
	Seq    uint64 `json:"seq"`
	Topic  string `json:"topic"`
	Key    string `json:"key"`
	Bytes  int    `json:"bytes"`
	Reason string `json:"reason"`
}

// entries locks events that were set aside, and returns their entries in the audit.
func (o *Outbox) entries(ctx context.Context, db prescient.DB, seqs, verb string) (entries []audit.Entry, err error) {
	type row struct {
		setAside
		id string
	}
	rows, err := store.Rows(ctx, db, "looking for events that were set aside", o.tables.Fill("event/chosen_set_aside", "{seqs}", seqs), func(r *row) []any {
		return []any{&r.Seq, store.Unhex(&r.id), &r.Topic, store.Unhex(&r.Key), &r.Bytes, store.Unhex(&r.Reason)}
	})
	for _, r := range rows {
		entries = append(entries, audit.Entry{Kind: audit.Event, ID: r.id, Verb: verb, Before: r.setAside})
	}
	return entries, err
}
