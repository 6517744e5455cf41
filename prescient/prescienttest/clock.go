package prescienttest

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"sync"
	"time"
)

// clock is the time that the connections of a kit's pool show. It stands still.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) time() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(t time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = t
}

// The first and last time that the servers' session variable timestamp takes.
var (
	firstTime = time.Unix(1, 0).UTC()
	lastTime  = time.Date(2038, 1, 19, 3, 14, 7, 0, time.UTC)
)

// inRange refuses a time that a server cannot be set to.
func inRange(t time.Time) error {
	if t.Before(firstTime) || t.After(lastTime) {
		return fmt.Errorf("a server's clock cannot be set to %s; %s to %s are allowed", t.Format(time.RFC3339),
			firstTime.Format(time.RFC3339), lastTime.Format(time.RFC3339))
	}
	return nil
}

// timestamp is a time as the session variable takes it.
func timestamp(t time.Time) string {
	return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/int(time.Microsecond))
}

// clocked makes connections on which the server's clock is that of a kit.
type clocked struct {
	driver.Connector
	clock *clock
}

// Connect implements driver.Connector.
func (c clocked) Connect(ctx context.Context) (driver.Conn, error) {
	plain, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	full, ok := plain.(fullConn)
	if !ok {
		return nil, errors.Join(errors.New("the driver's connections lack what a clock needs"), plain.Close())
	}
	conn := &clockedConn{fullConn: full, clock: c.clock}
	if err := conn.follow(ctx); err != nil {
		return nil, errors.Join(err, plain.Close())
	}
	return conn, nil
}

// fullConn is what the driver's connections are.
type fullConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
	driver.NamedValueChecker
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

// clockedConn sets the clock whenever the pool gives it out.
type clockedConn struct {
	fullConn
	clock *clock
	shows time.Time
}

// ResetSession implements driver.SessionResetter.
func (c *clockedConn) ResetSession(ctx context.Context) error {
	if err := c.fullConn.ResetSession(ctx); err != nil {
		return err
	}
	return c.follow(ctx)
}

func (c *clockedConn) follow(ctx context.Context) error {
	now := c.clock.time()
	if now.Equal(c.shows) {
		return nil
	}
	if _, err := c.ExecContext(ctx, "SET SESSION timestamp = "+timestamp(now), nil); err != nil {
		return fmt.Errorf("setting the server's clock: %w", err)
	}
	c.shows = now
	return nil
}
