package checks

import (
	"context"
	"time"
)

// outliving returns a context that lasts longer than ctx, by a grace: for what is better ended than broken off.
func outliving(ctx context.Context, grace time.Duration) (longer context.Context, stop func()) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	unheard := context.AfterFunc(ctx, func() {
		select {
		case <-time.After(grace):
			cancel()
		case <-longer.Done():
		}
	})
	return longer, func() {
		unheard()
		cancel()
	}
}
