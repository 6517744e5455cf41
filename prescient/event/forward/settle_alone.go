package forward

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/go-sql-driver/mysql"

	"prescient/prescient/internal/errno"
)

// refuses says whether an error of settling is about some of the events, so that others may go through: the server says no, or somebody
// keeps a row locked for as long as a statement may take. A server that cannot be reached, or takes no writes, refuses them all.
func refuses(err error) bool {
	var server *mysql.MySQLError
	if errors.Is(err, errno.ErrNoConnection) {
		return false // by the pool, and not by the server
	}
	return errno.Is(err, errno.LockWaitTimeout) || errors.Is(err, context.DeadlineExceeded) || errors.As(err, &server) && !errno.Passing(err)
}

// settleAlone tries to settle one event that the server refuses, ever more seldom, until it is done or the shard is given up: then another
// forwarder publishes the event again. The others' events have gone on.
func (f *Forwarder) settleAlone(one settled, why error) {
	defer gone([]settled{one})
	t := f.topics.of(one.row.Topic)
	t.unsettles(1)
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval, waits.MaxInterval = firstHold, lastHold
	for {
		if !one.shard.isLost() {
			f.noteFailure(t, one.row, fmt.Errorf("its publication is over, and it cannot be deleted: %w", why))
		}
		timer := time.NewTimer(waits.NextBackOff())
		select {
		case <-timer.C:
		case <-one.shard.stopped:
		case <-one.shard.ctx.Done():
		}
		timer.Stop()
		if one.shard.alive() != nil {
			t.unsettles(-1)
			return
		}
		ours, err := f.trySettle([]settled{one})
		if err == nil {
			t.unsettles(-1)
			f.tell(ours)
			if t.notesSuccess() {
				f.notes.worked(one.row.Topic)
			}
			return
		}
		why = err
	}
}

// numbersFrom is what the numbers of events that were set aside count from.
var numbersFrom = time.Date(2020, time.January, 1, 0, 0, 0, 0, time.UTC)

// firstNumber is the number of the first event that a transaction sets aside; those after it count up. They are the microseconds since 2020:
// none of the outbox's, which may come again, and short enough for programs that keep numbers as floats. Where two transactions have the
// same one, the second is refused, and tried again later.
func firstNumber(now time.Time) uint64 { return uint64(now.Sub(numbersFrom).Microseconds()) }
