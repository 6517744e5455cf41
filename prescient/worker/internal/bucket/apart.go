package bucket

import (
	"context"
	"fmt"

	"github.com/rs/zerolog"

	"prescient/slots"

	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/commit"
)

// A commit may fail for a reason that one of its rows has: the server refuses what is to be written of it, or breaks off each
// time that it is asked to. Such a batch is divided until the row is alone. If the server said why, the row ends, without
// its payload; else it stays, with its answer, and is tried again like one that somebody has locked. The other rows go on.

const (
	// breaksByChance is how often in a row a commit may be broken off behind its fence before one of its rows is suspected.
	breaksByChance = 5
	// maxApart is how many rows of a bucket are set apart. Where there are more, the reason is not the rows'.
	maxApart = 20
)

// setApart commits a batch by halves that failed for a reason of one of its rows.
func (b *Bucket) setApart(ctx context.Context, batch []*check.Answered, cause error) error {
	b.Figures.Retries++
	if half := len(batch) / 2; half > 0 {
		if err := b.Commit(ctx, batch[:half], false); err != nil {
			return err
		}
		return b.Commit(ctx, batch[half:], false)
	}
	a := batch[0]
	if !a.Stuck && !a.Bare {
		if b.apart++; b.apart > maxApart {
			return fmt.Errorf("committing slot %s: %d rows had to be set apart, the last one: %w", slots.Stamp(b.Lease.Slot), b.apart, cause)
		}
	}
	if commit.RefusesRow(cause) && !a.Bare {
		a.Bare, a.Verdict = true, commit.WithoutPayload(a.Verdict, cause)
		b.logRow(a).Err(cause).Msg("the end of a row is written without its payload")
		return b.Commit(ctx, batch, false)
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
