package attest

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/store"
)

const (
	// endsPage is how many ends of history are read at a time.
	endsPage = 5000
	// clockMargin is how much earlier than its slot an end may be dated: a worker's idea of the database's time is a little behind.
	clockMargin = time.Minute
)

// reader reads history from a time on, page by page, at most so many ends.
type reader struct {
	tables *store.Tables
	db     *sqlx.DB
	at     endRow // the last that was read
	read   int
	most   int
}

// endRow is a row of history.
type endRow struct {
	EndedAt  time.Time         `db:"ended_at"`
	Key      []byte            `db:"job_key"`
	Revision uint64            `db:"revision"`
	Slot     time.Time         `db:"slot"`
	Outcome  prescient.Outcome `db:"outcome"`
}

func newReader(tables *store.Tables, db *sqlx.DB, from time.Time, most int) *reader {
	return &reader{tables: tables, db: db, most: most, at: endRow{EndedAt: from.Add(-clockMargin - time.Microsecond), Key: make([]byte, 16), Revision: math.MaxInt64}}
}

// until hands on the slots of all ends before a time that slot runs have written. It is false where it read as many as it may before.
func (r *reader) until(ctx context.Context, before time.Time, end func(slot time.Time)) (bool, error) {
	for {
		limit := min(endsPage, r.most-r.read)
		if limit < 1 {
			return false, nil
		}
		var page []endRow
		err := r.db.SelectContext(ctx, &page, r.tables.Stmt.Get("attest/ends"), r.at.EndedAt, before, r.at.EndedAt, r.at.Key, r.at.Key, r.at.Revision, limit)
		if err != nil {
			return false, fmt.Errorf("reading history: %w", err)
		}
		for _, row := range page {
			if !row.Outcome.ByApp() {
				end(row.Slot.UTC())
			}
		}
		r.read += len(page)
		if len(page) > 0 {
			r.at = page[len(page)-1]
		}
		if len(page) < limit {
			return true, nil
		}
	}
}

// compare ends the comparison: it reads what was written since the last slot, and looks again at what is uneven.
func (a *attest) compare(ctx context.Context) error {
	ends := &a.report.Ends
	if !ends.Compared {
		return nil
	}
	defer func() { ends.Read = a.history.read }()
	if ends.Whole {
		now, err := a.tables.ReadClock(ctx, a.db)
		if err != nil {
			return err
		}
		if ends.Whole, err = a.history.until(ctx, now, a.end); err != nil {
			return err
		}
		ends.Until = now
	}
	if a.history.read >= a.history.most || !ends.Whole {
		ends.Until = a.history.at.EndedAt.UTC()
	}
	uneven := a.balance.uneven(ends.Whole)
	more := max(len(uneven)-differencesShown, 0)
	differ, err := a.again(ctx, uneven[:len(uneven)-more])
	ends.Differences, ends.Differ = differ, len(differ)+more
	return err
}

// end takes an end of history.
func (a *attest) end(slot time.Time) {
	if a.balance.end(slot) {
		a.report.Ends.Of++
	}
}

// again counts the ends of some slots by themselves, in ledger and history, and returns those that differ. What is being changed meanwhile does
// not count.
func (a *attest) again(ctx context.Context, list []time.Time) (differ []Difference, err error) {
	if len(list) == 0 {
		return nil, nil
	}
	before, err := a.books(ctx, list)
	if err != nil {
		return nil, err
	}
	now, err := a.tables.ReadClock(ctx, a.db)
	if err != nil {
		return nil, err
	}
	counts := make(map[int64]int64, len(list))
	history := newReader(&a.tables, a.db, a.balance.from, a.history.most)
	whole, err := history.until(ctx, now, func(slot time.Time) { counts[slot.Unix()]++ })
	if err != nil {
		return nil, err
	}
	after, err := a.books(ctx, list)
	if err != nil {
		return nil, err
	}
	for _, slot := range list {
		was, is, found := before[slot.Unix()], after[slot.Unix()], counts[slot.Unix()]
		if was == is && is.settled && (found > is.ended || whole && found < is.ended) {
			differ = append(differ, Difference{slot, is.ended, found})
		}
	}
	return differ, nil
}

// booked are the ends that the ledger has of a slot.
type booked struct {
	ended   int64
	settled bool
}

// books reads them for some slots.
func (a *attest) books(ctx context.Context, list []time.Time) (map[int64]booked, error) {
	all := make(map[int64]booked, len(list))
	for _, slot := range list {
		all[slot.Unix()] = booked{settled: true}
		page, err := a.ledger(ctx, slot, slot.Add(time.Second), 1)
		if err != nil {
			return nil, err
		}
		if len(page) > 0 {
			all[slot.Unix()] = booked{page[0].Ended, page[0].open() == 0}
		}
	}
	return all, nil
}
