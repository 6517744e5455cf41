package client

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

// LedgerFilter narrows a list of the ledger. Zero fields do not narrow it.
type LedgerFilter struct {
	// From (inclusive) and Before bound the slots.
	From, Before time.Time
	// After goes on behind a bucket of an earlier page, by its Cursor.
	After string
	// Limit is how many buckets a page has; 100 by default, MaxPage at most.
	Limit int
}

// Bucket is a part of a slot in the ledger: who ran it, when, and what became of its checks. Times are UTC.
type Bucket struct {
	Slot   time.Time `json:"slot"`
	Bucket int       `json:"bucket" doc:"Which part of the slot this is, from 0 on."`
	// Buckets is how many the slot has.
	Buckets int `json:"buckets" doc:"How many parts the slot has."`
	// Worker is the last that had it, and By what ran it: run, work, sweep or roll-forward.
	Worker string `json:"worker" doc:"The last worker that had it."`
	By     string `json:"by" doc:"What ran it: run, work, sweep or roll-forward."`
	// Takeovers is how often it was taken over from a worker whose lease had lapsed.
	Takeovers int `json:"takeovers" doc:"How often it was taken over from a worker whose lease had lapsed."`
	// StartedAt and FinishedAt are nil until then. AllocatedUntil is until when it is the worker's, where Held says that it still is.
	StartedAt      *time.Time `json:"started_at" doc:"When it was begun; null until then."`
	FinishedAt     *time.Time `json:"finished_at" doc:"When it was finished; null until then."`
	AllocatedUntil *time.Time `json:"allocated_until" doc:"Until when it is the worker's; null while nobody has it."`
	Held           bool       `json:"held" doc:"A worker has it now."`
	// LatenessMS is its start against the slot; nil until then.
	LatenessMS *int64 `json:"lateness_ms" doc:"How long after its slot it was begun; null until then."`
	// Moved checks went to a later slot after a call, PutOff without one. Answers were Dropped where the app had changed the check.
	Moved   int64 `json:"moved" doc:"How many checks went to a later slot after a call."`
	PutOff  int64 `json:"put_off" doc:"How many checks went to a later slot without a call."`
	Dropped int64 `json:"dropped" doc:"How many answers were dropped, since the app had changed the check."`
	// Ends are how many ended, by outcome; without those of which there are none.
	Ends map[prescient.Outcome]int64 `json:"ends" doc:"How many checks ended, by outcome."`
}

// Cursor names the place of the bucket in a list of the ledger.
func (b Bucket) Cursor() string {
	return b.Slot.UTC().Format(literal.SecondLayout) + "/" + strconv.Itoa(b.Bucket)
}

// ledgerEnds are the outcomes that the ledger has a column for.
var ledgerEnds = slices.DeleteFunc(prescient.Outcomes(), prescient.Outcome.ByApp)

// bounds are the conditions of a page.
func (f LedgerFilter) bounds() (string, error) {
	conditions := []string{"1 = 1"}
	if !f.From.IsZero() {
		conditions = append(conditions, "slot >= "+literal.Of(literal.AppendMicro, slots.RoundUp(f.From)))
	}
	if !f.Before.IsZero() {
		conditions = append(conditions, "slot < "+literal.Of(literal.AppendMicro, slots.RoundUp(f.Before)))
	}
	if f.After != "" {
		at, number, _ := strings.Cut(f.After, "/")
		slot, err := time.ParseInLocation(literal.SecondLayout, at, time.UTC)
		bucket, no := strconv.ParseUint(number, 10, 16)
		if err != nil || no != nil {
			return "", fmt.Errorf("%w: cursor %.100q is no cursor; give that of the last row of the page before", prescient.ErrInvalid, f.After)
		}
		is := literal.Of(literal.AppendSecond, slot)
		conditions = append(conditions, fmt.Sprintf("slot <= %[1]s AND (slot < %[1]s OR bucket < %[2]d)", is, bucket))
	}
	return strings.Join(conditions, " AND "), nil
}

// Ledger lists buckets of the ledger, those of the latest slots first, on a pool made by connect.Open.
func (c *Client) Ledger(ctx context.Context, db prescient.DB, f LedgerFilter) ([]Bucket, error) {
	limit := cmp.Or(f.Limit, 100)
	if limit < 1 || limit > MaxPage {
		return nil, fmt.Errorf("%w: limit %d: 1 to %d are allowed", prescient.ErrInvalid, f.Limit, MaxPage)
	}
	bounds, err := f.bounds()
	if err != nil {
		return nil, err
	}
	columns := make([]string, len(ledgerEnds))
	for i, outcome := range ledgerEnds {
		columns[i] = string(outcome)
	}
	type row struct {
		Bucket
		ends []int64
	}
	rows, err := store.Rows(ctx, db, "reading the ledger", c.tables.Fill("list/ledger", "{ends}", strings.Join(columns, ", "), "{bounds}", bounds, "{limit}", strconv.Itoa(limit)), func(r *row) []any {
		into := []any{&r.Slot, &r.Bucket.Bucket, &r.Buckets, &r.Worker, &r.By, &r.Takeovers, &r.StartedAt, &r.FinishedAt, &r.AllocatedUntil, &r.Held, &r.Moved, &r.PutOff, &r.Dropped}
		r.ends = make([]int64, len(ledgerEnds))
		for i := range r.ends {
			into = append(into, &r.ends[i])
		}
		return into
	})
	if err != nil {
		return nil, err
	}
	list := make([]Bucket, len(rows))
	for i, r := range rows {
		list[i] = r.Bucket
		list[i].Ends = make(map[prescient.Outcome]int64)
		for j, n := range r.ends {
			if n > 0 {
				list[i].Ends[ledgerEnds[j]] = n
			}
		}
		if r.StartedAt != nil {
			late := r.StartedAt.Sub(r.Slot).Milliseconds()
			list[i].LatenessMS = &late
		}
	}
	return list, nil
}
