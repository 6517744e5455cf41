package health

import (
	"context"
	"time"

	"prescient/prescient/notify"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

// toldSeen is what the templates get.
type toldSeen struct {
	notify.Told
	Operator bool
}

// whileMessagesWait is how often it is worth looking whether receivers acknowledge.
const whileMessagesWait = 5 * time.Second

func showTold(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := toldSeen{Operator: a.Operator()}
	var err error
	if is.Told, err = ops.ListTold.Do(ctx, a.Ops, a.By, ops.Nothing{}); err != nil {
		return front.Shown{}, err
	}
	again := lookAgain
	if is.Waits() > 0 {
		again = whileMessagesWait
	}
	return front.Shown{Data: is, Again: again}, nil
}

// Waits is to how many receivers something is to be sent. One that wants all with each look has nothing of it noted.
func (s toldSeen) Waits() (n int) {
	for _, r := range s.Receivers {
		if r.Waiting > 0 || r.UnreachedSince != nil {
			n++
		}
	}
	return n
}

func tellAgain(ctx context.Context, d front.Doing) (front.Done, error) {
	did, err := ops.TellAgain.Do(ctx, d.Ops, d.By, ops.Nothing{})
	return front.Done{Path: "/told", Count: did.Count}, err
}
