package prune

import (
	"context"
	"fmt"
	"time"
)

// mostAsleep is how long a connection says nothing at most, so that its loss is noticed.
const mostAsleep = 30 * time.Second

// awake has the connection say something now and then while a function works on others. Else the server ends it for idling, and its locks with
// it. Where it is lost all the same the function ends.
func (p *pruner) awake(ctx context.Context, do func(ctx context.Context) error) error {
	var seconds int
	if err := p.conn.QueryRowxContext(ctx, "SELECT @@SESSION.wait_timeout").Scan(&seconds); err != nil {
		return fmt.Errorf("asking for how long a connection may idle: %w", err)
	}
	ctx, cancel := context.WithCancelCause(ctx)
	done, quiet := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(quiet)
		ticker := time.NewTicker(min(time.Duration(max(seconds, 1))*time.Second/3, mostAsleep))
		defer ticker.Stop()
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
			}
			if _, err := p.conn.ExecContext(ctx, "DO 0"); err != nil {
				cancel(fmt.Errorf("the connection that locks out other prunes was lost: %w", err))
				return
			}
		}
	}()
	err := do(ctx)
	close(done)
	<-quiet
	if lost := context.Cause(ctx); lost != nil {
		err = lost
	}
	cancel(nil)
	return err
}
