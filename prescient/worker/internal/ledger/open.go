package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/slots"
)

// ErrEarly is returned when the database's clock says that the slot has not come.
var ErrEarly = errors.New("the slot has not come by the database's clock")

// maxOpenings bounds how often a worker looks again at the ledger of a slot that others open or prune at the same time.
const maxOpenings = 10

// Open makes the ledger rows of a slot that holds something, and returns them. The first to open it decides how many buckets
// there are, and everybody else goes by that, until Divide makes more of them. Open also makes the rows that are missing, so
// that every key of the slot lies in a bucket: nobody claims one of a slot of which he has not seen all.
func (g *Ledger) Open(ctx context.Context, slot time.Time, by By) (list []Row, err error) {
	for range maxOpenings {
		if list, err = g.Rows(ctx, slot); err == nil && len(list) == 0 {
			list, err = g.openAll(ctx, slot, by)
		}
		if err != nil {
			return nil, err
		}
		if list, err = g.divide(ctx, slot, list); err != nil {
			return nil, err
		}
		buckets, missing, fewer := gapsOf(list)
		if len(missing)+len(fewer) == 0 {
			return list, nil
		}
		for _, row := range fewer {
			if row.LivesFor > 0 { // it has the keys of others too; they are opened once it is given back
				return []Row{row}, nil
			}
			if err := g.widenTo(ctx, slot, row, buckets); err != nil {
				return nil, err
			}
		}
		if len(missing) > 0 {
			if _, err := g.openBuckets(ctx, "slotrun/open_rest", slot, by, buckets, missing); err != nil {
				return nil, err
			}
		}
	}
	return nil, fmt.Errorf("opening slot %s: its ledger was not whole at any of %d looks", slots.Stamp(slot), maxOpenings)
}

// Reopened is the ledger of a slot that was opened, with what is missing of it opened again; empty where all of it was
// pruned since.
func (g *Ledger) Reopened(ctx context.Context, slot time.Time, by By) ([]Row, error) {
	list, err := g.Rows(ctx, slot)
	if err != nil || len(list) == 0 {
		return list, err
	}
	if _, missing, fewer := gapsOf(list); len(missing)+len(fewer) == 0 {
		return list, nil
	}
	return g.Open(ctx, slot, by)
}

// gapsOf says how many buckets a slot has by its ledger, which of them are missing there, and which of those that are
// there say that it has fewer. The largest number counts: it can be given to the others, and not the other way round.
func gapsOf(list []Row) (buckets int, missing []int, fewer []Row) {
	there := make(map[int]bool, len(list))
	for _, row := range list {
		buckets = max(buckets, row.Buckets)
		there[row.Bucket] = true
	}
	for _, row := range list {
		if row.Buckets < buckets {
			fewer = append(fewer, row)
		}
	}
	missing = slices.DeleteFunc(upTo(buckets), func(bucket int) bool { return there[bucket] })
	return buckets, missing, fewer
}

// upTo returns the numbers of so many buckets.
func upTo(buckets int) []int {
	all := make([]int, buckets)
	for i := range all {
		all[i] = i
	}
	return all
}

// openAll opens all buckets of a slot at once, unless another was faster.
func (g *Ledger) openAll(ctx context.Context, slot time.Time, by By) ([]Row, error) {
	buckets, err := g.estimateBuckets(ctx, slot)
	if err != nil {
		return nil, err
	}
	opened, err := g.openBuckets(ctx, "slotrun/open", slot, by, buckets, upTo(buckets))
	if opened == buckets && err == nil {
		list := make([]Row, buckets)
		for i := range list {
			list[i] = Row{Bucket: i, Buckets: buckets}
		}
		return list, nil
	}
	if err != nil && !errno.Is(err, errno.DuplicateKey) {
		return nil, err
	}
	list, err := g.Rows(ctx, slot)
	if err == nil && len(list) == 0 {
		err = fmt.Errorf("opening slot %s: %w", slots.Stamp(slot), ErrEarly)
	}
	return list, err
}

// divide gives a slot more buckets that was opened as one, and has more rows now than one should have: it was empty at
// its time, say, and many inserts were late. That is safe while nobody holds it, and whoever means to has to look again.
func (g *Ledger) divide(ctx context.Context, slot time.Time, list []Row) ([]Row, error) {
	one := list[0]
	if len(list) > 1 || one.Bucket > 0 || one.Buckets != 1 || !one.Finished || one.Allocated || one.Takeovers > 1 {
		return list, nil
	}
	buckets, err := g.estimateBuckets(ctx, slot)
	if err != nil || buckets == 1 {
		return list, err
	}
	if err := g.widenTo(ctx, slot, one, buckets); err != nil {
		return nil, err
	}
	return g.Rows(ctx, slot)
}

// widenTo gives a bucket another number of buckets of its slot, as it was seen and while nobody holds it. Where that is
// over by now nothing happens.
func (g *Ledger) widenTo(ctx context.Context, slot time.Time, row Row, buckets int) error {
	if _, err := g.Send.Exec(ctx, g.Tables.Stmt.Get("slotrun/divide"), buckets, slot, row.Bucket, row.Token, row.BatchSeq, buckets); err != nil {
		return fmt.Errorf("dividing slot %s: %w", slots.Stamp(slot), err)
	}
	return nil
}

// openBuckets opens some buckets of a slot, by one of two statements, and returns how many it did.
func (g *Ledger) openBuckets(ctx context.Context, statement string, slot time.Time, by By, buckets int, which []int) (int, error) {
	n, err := g.Send.Exec(ctx, g.Tables.Fill(statement, "{buckets}", BucketList(which)), slot, buckets, by, slot)
	if err != nil {
		return 0, fmt.Errorf("opening slot %s: %w", slots.Stamp(slot), err)
	}
	return n, nil
}

// BucketList is a query whose rows are some numbers of buckets.
func BucketList(which []int) string {
	list := fmt.Appendf(nil, "SELECT %d AS bucket", which[0])
	for _, bucket := range which[1:] {
		list = fmt.Appendf(list, " UNION ALL SELECT %d", bucket)
	}
	return string(list)
}

const (
	// MaxBuckets bounds how finely a slot is divided.
	MaxBuckets = 256
	// sharedPart: where a slot is divided only so that several buckets are worked on at a time, each has at least this
	// part of a batch.
	sharedPart = 8
	// spare: a bucket has fewer rows than a batch by about this part, so that few have a last read, and a last commit, of what is beyond one.
	spare = 8
	// samplePart is the part of a slot in count_sample, and fewSampled how many rows it is to have there at least.
	samplePart = 256
	fewSampled = 16
)

// estimateBuckets finds how many buckets a slot should have, from a count where that is cheap, and otherwise from a sample,
// since keys are hashes and spread evenly.
func (g *Ledger) estimateBuckets(ctx context.Context, slot time.Time) (int, error) {
	few := min(4*g.Batch, max(g.Batch, fewSampled*samplePart))
	rows, err := g.countRows(ctx, g.Tables.Stmt.Get("slotrun/count_few"), slot, few)
	if err == nil && rows == few {
		rows, err = g.countRows(ctx, g.sample(), slot)
		rows = max(rows*samplePart, few)
	}
	if err != nil {
		return 0, fmt.Errorf("estimating slot %s: %w", slots.Stamp(slot), err)
	}
	return bucketsFor(rows+rows/spare, g.Batch, g.Parallel), nil
}

// sample is the query that counts the rows of a slot in the middle of the keys.
func (g *Ledger) sample() string {
	first, last := g.Tables.Keys.Bucket(samplePart/2, samplePart)
	return g.Tables.Fill("slotrun/count_sample", "{first}", literal.Of(literal.AppendKey, first), "{last}", literal.Of(literal.AppendKey, last))
}

func (g *Ledger) countRows(ctx context.Context, query string, args ...any) (rows int, err error) {
	err = g.Send.Query(ctx, func(ctx context.Context) error {
		return g.Send.DB.QueryRowContext(ctx, query, args...).Scan(&rows)
	})
	return rows, err
}

// bucketsFor is how many buckets a slot is divided into: one for every batch of rows, or more where those would be
// fewer than are worked on at a time, which parallel says: a multiple of that leaves none to the end by itself.
func bucketsFor(rows, batch, parallel int) int {
	n := min(max(rows/batch, 1), MaxBuckets)
	if n < parallel {
		return max(n, min(rows/max(batch/sharedPart, 1), parallel, MaxBuckets))
	}
	return n - n%parallel
}
