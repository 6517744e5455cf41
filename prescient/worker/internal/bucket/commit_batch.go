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
		if err := b.commit(ctx, contested, commit.FreeInUnique); err != nil {
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
		if err := b.commit(ctx, part, commit.ByRanges); err != nil {
			return committed, err
		}
		b.restUntil = b.Pace.Wrote(len(part), time.Now(), time.Since(began))
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

// commit writes what becomes of a batch of answers, once, as the table of package commit says. It begins with the way from, or one further
// down. Rows that somebody else has locked are kept for later, with their answers.
func (b *Bucket) commit(ctx context.Context, batch []*check.Answered, from commit.Lock) error {
	batch = b.setAside(batch)
	if len(batch) == 0 {
		return nil
	}
	slices.SortFunc(batch, func(x, y *check.Answered) int { return bytes.Compare(x.JobKey[:], y.JobKey[:]) })
	how := max(from, commit.LockOf(batch))
	if b.hasTx || b.Hidden.Load() {
		how = commit.FreeInUnique
	}
	waits := store.NewBackOff()
	tries := attempts{began: time.Now()}
	for {
		if !b.Lease.Alive(time.Now()) {
			return ledger.ErrLost
		}
		result, err := b.tryCommit(ctx, batch, how)
		switch {
		case err == nil:
			b.noteCommit(batch, result)
			return nil
		case errors.Is(err, ledger.ErrLost):
			b.Lease.Lose()
			return err
		}
		by := tries.refusal(batch, how, err, b.Shared.Send.Patience)
		next := commit.Next(how, by)
		switch next.Then {
		case commit.Ends:
			return fmt.Errorf("committing slot %s: %w", slots.Stamp(b.Lease.Slot), err)
		case commit.InParts:
			b.Figures.Retries++
			return b.commitInParts(ctx, batch, next, err)
		case commit.WholeSlot:
			b.Hidden.Store(true)
		case commit.AfterWait:
			if by != commit.ByChance {
				b.Shared.Log.Warn().Err(err).Time("slot", b.Lease.Slot).Int("bucket", b.Lease.Bucket).Msg("commit is tried again")
			}
			if err := store.Sleep(ctx, waits.NextBackOff()); err != nil {
				return err
			}
		}
		how = next.Lock
		b.Figures.Retries++
	}
}

// attempts are those at one commit that came to nothing.
type attempts struct {
	began          time.Time
	broke, refused int
}

const (
	// breaksByChance is how often in a row a commit may be broken off behind its fence before one of its rows is suspected.
	breaksByChance = 5
	// refusedByChance is how often a row that is alone is refused before something else is written of it.
	refusedByChance = 3
)

// refusal is what the last of them came to nothing for, with those before it.
func (t *attempts) refusal(batch []*check.Answered, how commit.Lock, err error, patience time.Duration) commit.Refusal {
	by := commit.RefusalOf(err)
	switch {
	case by == commit.RowRefused:
		t.refused++
		if len(batch) == 1 && !batch[0].Bare && !errno.KeepsRow(err) && t.refused < refusedByChance {
			return commit.ByChance
		}
	case commit.Next(how, by).Then == commit.AfterWait:
		if time.Since(t.began) > patience {
			return commit.Staying
		}
		if commit.BreaksOff(err) {
			if t.broke++; t.broke == breaksByChance {
				return commit.FifthBreak
			}
		}
	}
	return by
}

// commitInParts commits a batch by parts of which a row is in the way of the others: somebody has a lock though nobody has its rows locked,
// or the server refuses what is to be written of it, or breaks off each time that it is asked to. A move writes the row's key anew in UNIQUE
// (job_key): a gap that an app has locked is in its way there, and on MariaDB the row after it, too, which may be an insert that is not
// committed. The other rows go on.
func (b *Bucket) commitInParts(ctx context.Context, batch []*check.Answered, next commit.Step, cause error) error {
	if len(batch) == 1 {
		return b.setApart(ctx, batch[0], next.Alone, cause)
	}
	for part := range slices.Chunk(batch, max(len(batch)/commit.Parts, 1)) {
		if err := b.commit(ctx, part, next.Lock); err != nil {
			return err
		}
	}
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
			if a.Answer.Cause == prescient.CauseCalled || a.Answer.Began {
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
	b.Finished = result.Finished
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
	if a.Answer.Began { // it may have waited for a place, or for another run
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
func (b *Bucket) tryCommit(ctx context.Context, batch []*check.Answered, how commit.Lock) (commit.Result, error) {
	done, err := b.Shared.acquireSender(ctx, b.lingering)
	if err != nil {
		return commit.Result{}, err
	}
	defer done()
	return b.session.Try(ctx, batch, how, b.isLast(batch))
}

// isLast says whether the bucket is finished once a batch is committed: a transaction less for each bucket, of the few that one takes.
func (b *Bucket) isLast(batch []*check.Answered) bool {
	rows := 0
	for _, s := range b.streams {
		if !s.dry {
			return false
		}
		rows += s.outstanding
	}
	return rows == len(batch) && !b.cutOff && b.Figures.Locked+b.Figures.Stuck == 0
}

// maxApart is how many rows of a bucket are set apart. Where there are more, the reason is not the rows'.
const maxApart = 20

// setApart does with a row that is alone what is to be done with it. If the server says why it refuses it, and goes on to, something else is
// written of the row. Otherwise it stays, with its answer, and is tried again like one that somebody has locked.
func (b *Bucket) setApart(ctx context.Context, a *check.Answered, as commit.Alone, cause error) error {
	if as != commit.Later && !a.Stuck && !a.Bare && !errno.KeepsRow(cause) { // what the tables say of rows may keep any number of them
		if b.apart++; b.apart > maxApart {
			return fmt.Errorf("committing slot %s: %d rows had to be set apart, the last one: %w", slots.Stamp(b.Lease.Slot), b.apart, cause)
		}
	}
	switch {
	case as == commit.Otherwise:
		return b.writeOtherwise(ctx, a, cause)
	case as == commit.Stuck && !a.Stuck:
		a.Stuck = true
		b.logRow(a).Err(cause).Msg("what became of a row cannot be written; it stays")
	}
	b.keepContested([]*check.Answered{a})
	return nil
}

// logRow begins a line about a row.
func (b *Bucket) logRow(a *check.Answered) *zerolog.Event {
	return b.Shared.Log.Error().Time("slot", b.Lease.Slot).Str("entity", a.Entity().String()).Str("job_exec", a.JobExec).Str("tag", a.Tag)
}
