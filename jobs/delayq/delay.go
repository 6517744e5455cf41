package delayq

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
)

// Delay has handle called with the data once readyTime has come, by the database's clock: in the slot of that time rounded
// up, or in the next open slot where that is over. The zero time is over. Up to MaxData bytes, and prescient.MaxHorizon ahead.
//
// The errors are those of DelayContext.
func (q *DelayQueue) Delay(readyTime time.Time, data []byte) error {
	_, err := q.DelayContext(context.Background(), readyTime, data)
	return err
}

// DelayContext is Delay with a context. It returns an id, for Cancel. Ids of one process sort by the time at which they were made.
//
// Errors to tell apart: prescient.ErrInvalid, prescient.ErrBeyondHorizon, and prescient.ErrConfigChanged, with nothing written.
// Others come from the server; after one that broke the connection nobody knows whether the data is delayed.
func (q *DelayQueue) DelayContext(ctx context.Context, readyTime time.Time, data []byte) (id string, err error) {
	return q.DelayTx(ctx, q.db, readyTime, data)
}

// DelayTx is DelayContext in the caller's transaction: the data is delayed if that commits, and otherwise not. After an error for
// which client.BeginAgain holds, the caller begins the transaction again.
func (q *DelayQueue) DelayTx(ctx context.Context, db prescient.DB, readyTime time.Time, data []byte) (id string, err error) {
	payload, err := payloadOf(data)
	if err != nil {
		return "", fmt.Errorf("delayq %s: %w", q.Name(), err)
	}
	if readyTime.Before(prescient.EarliestDue) {
		readyTime = prescient.EarliestDue
	}
	id = newID(time.Now())
	_, err = q.client.Insert(ctx, db, prescient.NewJob{Entity: EntityOf(id), JobExec: q.Name(), DueAt: readyTime, Payload: payload,
		OnPending: prescient.OnPendingError}) // an id that is taken must not swallow the data
	if err != nil {
		return "", fmt.Errorf("delayq %s: %w", q.Name(), err)
	}
	return id, nil
}

// Cancel takes back what was delayed under an id: once it has returned true, no call of handle starts any more. A call that is
// under way is not interrupted, and its answer counts for nothing. It returns false where nothing is pending under the id in this
// queue, since handle has returned nil for it or it was cancelled before.
func (q *DelayQueue) Cancel(ctx context.Context, id string) (cancelled bool, err error) {
	return q.CancelTx(ctx, q.db, id)
}

// CancelTx is Cancel in the caller's transaction: it counts if that commits.
func (q *DelayQueue) CancelTx(ctx context.Context, db prescient.DB, id string) (cancelled bool, err error) {
	n, err := q.client.Cancel(ctx, db, EntityOf(id), q.Name())
	if err != nil {
		return false, fmt.Errorf("delayq %s: %w", q.Name(), err)
	}
	return n > 0, nil
}
