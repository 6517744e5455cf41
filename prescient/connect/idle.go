package connect

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
)

// A worker whose network vanishes in the middle of a transaction says nothing any more, and its server waits for the next
// statement, with the rows locked. So each connection on which a transaction of a worker begins is told for how long it may
// idle there: the server then ends it. MariaDB has a setting for connections that are in a transaction. MySQL has one for
// all connections, so that one on which a commit was done may idle no longer in the pool either. The pool does not use it
// again once half of that time is over. To tell the server takes a round trip, for the first transaction on a connection,
// and for the first of another kind.

// idleSettings are the settings by which a server ends connections that idle, the first that it knows.
var idleSettings = [...]string{"idle_transaction_timeout", idleAnywhere}

// idleAnywhere also ends connections that are in no transaction.
const idleAnywhere = "wait_timeout"

// letIdle tells the server for how long this connection may idle, if the context says so and it is not told already. A
// statement that is cut off on its way is waited for no longer than that either, up to half a minute.
func (c *hostConn) letIdle(ctx context.Context) error {
	d, ok := ctx.Value(store.IdleKey{}).(time.Duration)
	if !ok || d == c.idle {
		return nil
	}
	seconds := int((d + time.Second - 1) / time.Second)
	for _, setting := range idleSettings {
		_, err := c.fullConn.ExecContext(ctx, fmt.Sprintf("SET SESSION %s = %d, SESSION net_read_timeout = %d", setting, seconds, min(seconds, 30)), nil)
		if errno.Is(err, errno.UnknownVariable) {
			continue
		}
		if err != nil {
			return fmt.Errorf("saying for how long a transaction may idle: %w", c.note(err))
		}
		c.idle, c.idlesOut = d, setting == idleAnywhere
		return nil
	}
	return nil // a server that has neither
}

// asBefore is for a transaction that does not say for how long it may idle, such as one of a handler's own. It may idle for as
// long as the pool's sessions, if the connection was told another time before.
func (c *hostConn) asBefore(ctx context.Context) context.Context {
	if _, given := ctx.Value(store.IdleKey{}).(time.Duration); given || c.idle == 0 {
		return ctx
	}
	return store.MayIdle(ctx, c.hosts.idle)
}

// tooOld says whether the server may be about to end the connection, since it idles in the pool.
func (c *hostConn) tooOld() bool { return c.idlesOut && time.Since(c.used) > c.idle/2 }
