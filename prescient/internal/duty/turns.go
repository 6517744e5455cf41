package duty

import (
	"context"
	"errors"
	"time"
)

// slice is for how long one has its turn.
const slice = 10 * time.Second

// InTurns works on all that waits, on each until its time is over, and then on those again that are not over and that no other process has. The error
// says what stopped one: that waits for this or another process, and the others go on all the same.
func InTurns[T any](ctx context.Context, waiting []T, work func(one T, until time.Time) (over, taken bool, err error)) (err error) {
	for len(waiting) > 0 && ctx.Err() == nil {
		var again []T
		for _, one := range waiting {
			over, taken, failed := work(one, time.Now().Add(slice))
			err = errors.Join(err, failed)
			if !over && taken && failed == nil {
				again = append(again, one)
			}
		}
		waiting = again
	}
	return errors.Join(err, ctx.Err())
}
