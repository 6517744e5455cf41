package worker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

// commitReady commits what is answered if it is a batch, or nothing else is running, or it has waited long enough; or
// all of it, where all says so. It returns errLeaseLost where another has the bucket by now.
func (b *bucketRun) commitReady(ctx context.Context, all bool) (committed bool, err error) {
	after := b.flushAfter()
	b.mu.Lock()
	n := len(b.answers)
	ready := n >= b.batch || n > 0 && (all || b.flying == 0 || time.Since(b.oldest) >= after)
	var batch []*answered
	if ready {
		batch, b.answers = b.answers, nil
	}
	b.mu.Unlock()
	batch = slices.DeleteFunc(batch, func(a *answered) bool {
		if a.answer.fate == again {
			if a.answer.locked {
				b.noteLocked(a)
			} else {
				if a.tries++; a.tries == 1 {
					a.triedAt = time.Now()
				}
			}
			b.alone = append(b.alone, alone{a, time.Now().Add(a.answer.wait)})
		}
		return a.answer.fate == again
	})
	if len(b.held) > 0 && (all || !time.Now().Before(b.retryAt)) {
		held := b.held
		b.held = nil
		if err := b.commit(ctx, held, true); err != nil {
			return false, err
		}
		committed = true
	}
	slices.SortFunc(batch, func(x, y *answered) int { return bytes.Compare(x.key[:], y.key[:]) })
	for part := range slices.Chunk(batch, 2*max(b.batch, 1)) {
		if err := b.commit(ctx, part, false); err != nil {
			return committed, err
		}
	}
	return committed || ready, nil
}

// commit writes what becomes of a batch of answers, once. Rows that somebody else has locked are kept for later, with
// their answers.
func (b *bucketRun) commit(ctx context.Context, batch []*answered, contested bool) error {
	batch = b.sort(batch)
	if len(batch) == 0 {
		return nil
	}
	slices.SortFunc(batch, func(x, y *answered) int { return bytes.Compare(x.key[:], y.key[:]) })
	contested = contested || b.hasTx || b.hidden.Load()
	var spans []span
	if !contested {
		spans = spansOf(batch)
	}
	waits := store.NewBackOff()
	began, broke := time.Now(), 0
	for {
		if !b.lease.alive(time.Now()) {
			return errLeaseLost
		}
		result, err := b.tryCommit(ctx, batch, spans, contested)
		switch {
		case err == nil:
			b.settle(batch, result)
			return nil
		case errors.Is(err, errLeaseLost):
			b.lease.lose()
			return err
		case errors.Is(err, errChanged) && spans != nil:
			// At once: the look is made again, by the rows' own keys.
			spans = nil
		case errno.Is(err, errno.LockWaitTimeout, errno.NoWait) && !contested:
			contested, spans = true, nil
			if !errors.Is(err, errAtOnce) {
				b.hidden.Store(true) // it waited, and so would the next
			}
		case errno.Is(err, errno.LockWaitTimeout, errno.NoWait):
			return b.divide(ctx, batch)
		case refusesRow(err):
			return b.setApart(ctx, batch, err)
		case !errno.Passing(err) && !errors.Is(err, errChanged), time.Since(began) > b.w.options.Patience:
			return fmt.Errorf("committing slot %s: %w", slots.Stamp(b.lease.slot), err)
		default:
			if breaksOff(err) {
				if broke++; broke == breaksByChance {
					return b.setApart(ctx, batch, err)
				}
			}
			b.w.log.Warn().Err(err).Time("slot", b.lease.slot).Int("bucket", b.lease.bucket).Msg("commit is tried again")
			if err := store.Sleep(ctx, waits.NextBackOff()); err != nil {
				return err
			}
		}
		b.figures.Retries++
	}
}

// parts is into how many a batch is divided that meets a lock: where each try waits a second for it, few steps count.
const parts = 16

// divide commits a batch by parts, whose rows nobody has locked and which yet meets a lock. A move writes the row's key anew
// in UNIQUE (job_key): a gap that an app has locked is in its way there, and on MariaDB the row after it, too, which may be
// an insert that is not committed. A row that is left alone with that is kept for later.
func (b *bucketRun) divide(ctx context.Context, batch []*answered) error {
	b.figures.Retries++
	if len(batch) == 1 {
		b.hold(batch)
		return nil
	}
	for part := range slices.Chunk(batch, max(len(batch)/parts, 1)) {
		if err := b.commit(ctx, part, true); err != nil {
			return err
		}
	}
	return nil
}

// sort puts aside the answers that there is nothing to commit for.
func (b *bucketRun) sort(batch []*answered) []*answered {
	var done []*answered
	rest := b.forget(batch, func(a *answered) bool {
		switch a.answer.fate {
		case committed:
			done = append(done, a)
			b.figures.Counts.count(a.verdict, prescient.CauseCalled, 1)
			b.noteLateness(a)
			b.noteTrouble(a)
		case dropped:
			b.figures.Dropped++
		case notStarted:
			b.cutOff = true
		default:
			return false
		}
		return true
	})
	b.w.observeAnswers(done, commitResult{})
	return rest
}

// settle takes note of a commit that was done.
func (b *bucketRun) settle(batch []*answered, result commitResult) {
	b.figures.Counts.add(result.counts)
	b.w.observeAnswers(batch, result)
	for _, a := range batch {
		if result.contested[a.key] {
			continue
		}
		if a.answer.called() {
			b.noteLateness(a)
		}
		if !result.dropped[a.key] {
			b.noteTrouble(a)
		}
	}
	still := b.forget(batch, func(a *answered) bool { return !result.contested[a.key] })
	if len(still) > 0 {
		b.hold(still)
	} else if len(b.held) == 0 {
		b.retryIn = 0
	}
}

// hold keeps answers that could not be committed for a later try, in growing distances.
func (b *bucketRun) hold(rows []*answered) {
	for _, a := range rows {
		b.noteLocked(a)
	}
	b.held = append(b.held, rows...)
	b.retryIn = min(max(2*b.retryIn, flushEvery), time.Second)
	b.retryAt = time.Now().Add(b.retryIn)
}

func (b *bucketRun) noteLateness(a *answered) {
	late := a.answer.started.Sub(a.NextCheckAt)
	b.figures.Lateness = max(b.figures.Lateness, late)
	if sla := b.w.guardsOf(a.JobExec).SLA; sla > 0 && late > sla {
		b.figures.OverSLA++
	}
}

func (b *bucketRun) noteTrouble(a *answered) {
	(*troubles)(&b.figures.Troubles).note(a.FutureJob, a.answer.trouble(a.verdict.Outcome), a.verdict)
}

// forget drops the answers that match: their rows leave memory.
func (b *bucketRun) forget(batch []*answered, match func(*answered) bool) []*answered {
	return slices.DeleteFunc(slices.Clone(batch), func(a *answered) bool {
		if !match(a) {
			return false
		}
		b.release(a)
		if a.locked {
			b.locked--
		}
		return true
	})
}

// tryCommit makes one attempt in the bucket's turn to send statements.
func (b *bucketRun) tryCommit(ctx context.Context, batch []*answered, spans []span, contested bool) (commitResult, error) {
	done, err := b.w.turn(ctx, b.lingering)
	if err != nil {
		return commitResult{}, err
	}
	defer done()
	return b.session.tryCommit(ctx, batch, spans, contested)
}
