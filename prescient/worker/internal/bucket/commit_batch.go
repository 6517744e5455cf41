package bucket

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/commit"
	"prescient/prescient/worker/internal/ledger"
	"prescient/slots"
)

// commitReady commits what is answered if it is a batch, or nothing else is running, or it has waited long enough; or
// all of it, where all says so. It returns ledger.ErrLost where another has the bucket by now.
func (b *Bucket) commitReady(ctx context.Context, all bool) (committed bool, err error) {
	after := b.flushAfter()
	batch, ready := b.inbox.ready(b.enough(), after, all)
	batch = slices.DeleteFunc(batch, func(a *check.Answered) bool {
		if a.Answer.Fate == check.Again {
			if a.Answer.Locked {
				b.noteLocked(a)
				a.RetryIn = longer(a.RetryIn)
				a.Answer.Wait = a.RetryIn
			} else {
				if a.Tries++; a.Tries == 1 {
					a.TriedAt = time.Now()
				}
			}
			a.Kept = cmp.Or(a.Answer.Kept, a.Kept)
			b.alone = append(b.alone, alone{row: a, at: time.Now().Add(a.Answer.Wait)})
		}
		return a.Answer.Fate == check.Again
	})
	if len(b.contested) > 0 && (all || !time.Now().Before(b.retryAt)) {
		contested := b.contested
		b.contested = nil
		if err := b.commit(ctx, contested, true); err != nil {
			return false, err
		}
		committed = true
	}
	slices.SortFunc(batch, func(x, y *check.Answered) int { return bytes.Compare(x.JobKey[:], y.JobKey[:]) })
	for part := range slices.Chunk(batch, b.commitRows()) {
		if !all {
			b.rest()
		}
		began := time.Now()
		if err := b.commit(ctx, part, false); err != nil {
			return committed, err
		}
		b.restUntil = time.Now().Add(min(time.Duration(b.Pace.Effort().Rest)*time.Since(began), longestRest))
	}
	return committed || ready, nil
}

// rest waits for the next commit, unless the bucket is to stop.
func (b *Bucket) rest() {
	left := time.Until(b.restUntil)
	if left <= 0 {
		return
	}
	rest := time.NewTimer(left)
	defer rest.Stop()
	select {
	case <-rest.C:
	case <-b.Stop:
	}
}

// longestRest bounds what a run waits between two commits, whatever held one up.
const longestRest = 100 * time.Millisecond

// commit writes what becomes of a batch of answers, once. Rows that somebody else has locked are kept for later, with
// their answers. It goes by ranges of rows first, then by their keys, and where that waits for a lock, or hidden says that it
// would, by those that are free in UNIQUE (job_key), too.
func (b *Bucket) commit(ctx context.Context, batch []*check.Answered, hidden bool) error {
	batch = b.setAside(batch)
	if len(batch) == 0 {
		return nil
	}
	slices.SortFunc(batch, func(x, y *check.Answered) int { return bytes.Compare(x.JobKey[:], y.JobKey[:]) })
	hidden = hidden || b.hasTx || b.Hidden.Load()
	var spans []commit.Span
	if !hidden {
		spans = commit.SpansOf(batch)
	}
	waits := store.NewBackOff()
	began, broke, refused := time.Now(), 0, 0
	for {
		if !b.Lease.Alive(time.Now()) {
			return ledger.ErrLost
		}
		result, err := b.tryCommit(ctx, batch, spans, hidden)
		switch {
		case err == nil:
			b.noteCommit(batch, result)
			return nil
		case errors.Is(err, ledger.ErrLost):
			b.Lease.Lose()
			return err
		case spans != nil && (errors.Is(err, commit.ErrChanged) || errors.Is(err, commit.ErrAtOnce)):
			spans = nil // at once: the rows are locked again, by their own keys
		case errno.Is(err, errno.LockWaitTimeout, errno.NoWait) && !hidden:
			hidden, spans = true, nil
			if !errors.Is(err, commit.ErrAtOnce) {
				b.Hidden.Store(true) // it waited, and so would those of the other batches of the slot
			}
		case errno.Is(err, errno.LockWaitTimeout, errno.NoWait):
			return b.setLockedApart(ctx, batch)
		case commit.RefusesRow(err):
			if refused++; len(batch) > 1 || batch[0].Bare || errno.KeepsRow(err) || refused == refusedByChance {
				return b.setApart(ctx, batch, err)
			}
			if err := store.Sleep(ctx, waits.NextBackOff()); err != nil {
				return err
			}
		case !errno.Passing(err) && !errors.Is(err, commit.ErrChanged), time.Since(began) > b.Shared.Send.Patience:
			return fmt.Errorf("committing slot %s: %w", slots.Stamp(b.Lease.Slot), err)
		default:
			if commit.BreaksOff(err) {
				if broke++; broke == breaksByChance {
					return b.setApart(ctx, batch, err)
				}
			}
			b.Shared.Log.Warn().Err(err).Time("slot", b.Lease.Slot).Int("bucket", b.Lease.Bucket).Msg("commit is tried again")
			if err := store.Sleep(ctx, waits.NextBackOff()); err != nil {
				return err
			}
		}
		b.Figures.Retries++
	}
}

// parts is into how many parts a batch is cut of which a row is in the way of the others. Few steps count, since each try may
// wait a second for a lock.
const parts = 16

// commitInParts commits a batch by parts.
func (b *Bucket) commitInParts(ctx context.Context, batch []*check.Answered, hidden bool) error {
	for part := range slices.Chunk(batch, max(len(batch)/parts, 1)) {
		if err := b.commit(ctx, part, hidden); err != nil {
			return err
		}
	}
	return nil
}

// setLockedApart commits a batch by parts that meets a lock though nobody has its rows locked. A move writes the row's key anew
// in UNIQUE (job_key): a gap that an app has locked is in its way there, and on MariaDB the row after it, too, which may be
// an insert that is not committed. A row that is left alone with that is kept for later.
func (b *Bucket) setLockedApart(ctx context.Context, batch []*check.Answered) error {
	b.Figures.Retries++
	if len(batch) > 1 {
		return b.commitInParts(ctx, batch, true)
	}
	b.keepContested(batch)
	return nil
}

// setAside puts aside the answers that there is nothing to commit for.
func (b *Bucket) setAside(batch []*check.Answered) []*check.Answered {
	var done []*check.Answered
	rest := b.forget(batch, func(a *check.Answered) bool {
		switch a.Answer.Fate {
		case check.Committed:
			done = append(done, a)
			b.Figures.Counts.Count(a.Verdict, a.Answer.Cause, 1)
			if a.Answer.Cause == prescient.CauseCalled || a.Answer.Cause == prescient.CauseStarts {
				b.noteLateness(a)
			}
			b.noteTrouble(a)
		case check.Dropped:
			b.Figures.Dropped++
		case check.NotStarted:
			b.cutOff = true
		default:
			return false
		}
		return true
	})
	b.Shared.Observe(done, commit.Result{})
	return rest
}

// noteCommit takes note of a commit that was done.
func (b *Bucket) noteCommit(batch []*check.Answered, result commit.Result) {
	b.Figures.Counts.Add(result.Counts)
	b.Shared.Observe(batch, result)
	for _, a := range batch {
		if result.Contested[a.JobKey] {
			continue
		}
		if a.Answer.Called() {
			b.noteLateness(a)
		}
		if !result.Dropped[a.JobKey] {
			b.noteTrouble(a)
		}
	}
	still := b.forget(batch, func(a *check.Answered) bool { return !result.Contested[a.JobKey] })
	if len(still) > 0 {
		b.keepContested(still)
	} else if len(b.contested) == 0 {
		b.retryIn = 0
	}
}

// keepContested keeps answers that could not be committed for a later try, in growing distances.
func (b *Bucket) keepContested(rows []*check.Answered) {
	for _, a := range rows {
		b.noteLocked(a)
	}
	b.contested = append(b.contested, rows...)
	b.retryIn = longer(b.retryIn)
	b.retryAt = time.Now().Add(b.retryIn)
}

// longer is how long to wait before the next try for what somebody else has locked, after one before which so long was waited.
func longer(wait time.Duration) time.Duration { return min(max(2*wait, flushEvery), time.Second) }

func (b *Bucket) noteLateness(a *check.Answered) {
	slot := a.NextCheckAt
	if a.Answer.Cause == prescient.CauseStarts { // it may have waited for a place, or for another run
		slot = slots.Earlier(slot, b.Shared.Tables.Grid.Ceil(a.DueAt))
	}
	late := a.Answer.Started.Sub(slot)
	b.Figures.Lateness = max(b.Figures.Lateness, late)
	if sla := b.Shared.Guards(a.JobExec).SLA; sla > 0 && late > sla {
		b.Figures.OverSLA++
	}
}

func (b *Bucket) noteTrouble(a *check.Answered) {
	(*books.Troubles)(&b.Figures.Troubles).Note(a.FutureJob, a.Answer.Trouble(a.Verdict.Outcome), a.Verdict)
}

// forget drops the answers that match: their rows leave memory.
func (b *Bucket) forget(batch []*check.Answered, match func(*check.Answered) bool) []*check.Answered {
	return slices.DeleteFunc(slices.Clone(batch), func(a *check.Answered) bool {
		if !match(a) {
			return false
		}
		b.release(a)
		if a.Locked {
			b.locked--
		}
		return true
	})
}

// tryCommit makes one attempt, once the bucket may send statements.
func (b *Bucket) tryCommit(ctx context.Context, batch []*check.Answered, spans []commit.Span, hidden bool) (commit.Result, error) {
	done, err := b.Shared.acquireSender(ctx, b.lingering)
	if err != nil {
		return commit.Result{}, err
	}
	defer done()
	return b.session.Try(ctx, batch, spans, hidden)
}

// A commit may fail for a reason that one of its rows has: the server refuses what is to be written of it, or breaks off each
// time that it is asked to. Such a batch is cut up until the row is alone. If the server says why, and goes on to, something
// else is written of the row. Otherwise it stays, with its answer, and is tried again like one that somebody has locked. The other
// rows go on.

const (
	// breaksByChance is how often in a row a commit may be broken off behind its fence before one of its rows is suspected.
	breaksByChance = 5
	// refusedByChance is how often a row that is alone is refused before something else is written of it: a server has errors that
	// pass and that nobody here knows of.
	refusedByChance = 3
	// maxApart is how many rows of a bucket are set apart. Where there are more, the reason is not the rows'.
	maxApart = 20
)

// setApart commits a batch by parts that failed for a reason that one of its rows has.
func (b *Bucket) setApart(ctx context.Context, batch []*check.Answered, cause error) error {
	b.Figures.Retries++
	if len(batch) > 1 {
		return b.commitInParts(ctx, batch, false)
	}
	a := batch[0]
	if !a.Stuck && !a.Bare && !errno.KeepsRow(cause) { // what the tables say of rows may keep any number of them
		if b.apart++; b.apart > maxApart {
			return fmt.Errorf("committing slot %s: %d rows had to be set apart, the last one: %w", slots.Stamp(b.Lease.Slot), b.apart, cause)
		}
	}
	if commit.RefusesRow(cause) {
		return b.writeOtherwise(ctx, a, cause)
	}
	if !a.Stuck {
		a.Stuck = true
		b.logRow(a).Err(cause).Msg("what became of a row cannot be written; it stays")
	}
	b.keepContested(batch)
	return nil
}

// logRow begins a line about a row.
func (b *Bucket) logRow(a *check.Answered) *zerolog.Event {
	return b.Shared.Log.Error().Time("slot", b.Lease.Slot).Str("entity", a.Entity().String()).Str("job_exec", a.JobExec).Str("tag", a.Tag)
}
