package health

import (
	"context"
	"time"

	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

// blockingSeen is what the template gets.
type blockingSeen struct {
	ops.Clock
	ops.Blocked
	All bool
}

// whileOthersWait is how often it is worth looking who waits for whom.
const whileOthersWait = 10 * time.Second

func showBlocking(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := blockingSeen{All: a.Text("tables") == "all"}
	var err error
	if is.Blocked, err = ops.Blocking.Do(ctx, a.Ops, a.By, ops.BlockingAsked{All: is.All}); err != nil {
		return front.Shown{}, err
	}
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	return front.Shown{Data: is, Again: whileOthersWait}, nil
}
