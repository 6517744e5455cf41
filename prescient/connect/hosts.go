package connect

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"prescient/prescient"
	"prescient/prescient/connect/hostlist"
	"prescient/prescient/internal/errno"
)

// hosts makes connections to the first of several servers that takes writes, and stays with it until it does so no more:
// a pool whose connections go to different nodes of a cluster would read what it has not written yet.
type hosts struct {
	list []host
	// attempt bounds the time to connect to one host, commit that of a COMMIT; zero for no bound.
	attempt, commit time.Duration
	// idle is for how long the sessions of a worker's pool may idle; zero for another's.
	idle time.Duration
	// away is called where a shard of Vitess has no server; nil for nothing.
	away func()

	mu sync.Mutex
	at int // the host that was connected to last
	// epoch counts how often a host was left because it takes no writes any more. Connections of an earlier epoch are of no
	// use: the pool drops them.
	epoch uint64
}

type host struct {
	address   string
	connector driver.Connector
}

// eachHost returns the DSN of each host in a list such as tcp(host1:port,host2:port).
func eachHost(dsn string) ([]string, error) {
	hosts := hostlist.Cut(dsn)
	list := make([]string, len(hosts))
	for i, host := range hosts {
		if len(hosts) > 1 && (host.Address == "" || strings.ContainsAny(host.Address, " \t()")) {
			return nil, fmt.Errorf("%w: dsn: want tcp(host1:port,host2:port): a host of the list is empty or has a blank in it", prescient.ErrInvalid)
		}
		list[i] = host.DSN
	}
	return list, nil
}

// Driver implements driver.Connector.
func (h *hosts) Driver() driver.Driver { return h.list[0].connector.Driver() }

// Connect implements driver.Connector: it goes once round the hosts, from the one that worked last.
func (h *hosts) Connect(ctx context.Context) (driver.Conn, error) {
	h.mu.Lock()
	first, epoch := h.at, h.epoch
	h.mu.Unlock()
	var errs []error
	for i := range h.list {
		at := (first + i) % len(h.list)
		conn, err := h.try(ctx, h.list[at], len(h.list)-i)
		if err == nil {
			h.mu.Lock()
			if h.epoch == epoch {
				h.at = at
			}
			h.mu.Unlock()
			return &hostConn{fullConn: conn, hosts: h, epoch: epoch}, nil
		}
		if len(h.list) > 1 {
			err = fmt.Errorf("host %s: %w", h.list[at].address, err)
		}
		errs = append(errs, err)
		if ctx.Err() != nil {
			break
		}
	}
	if len(errs) == 1 {
		return nil, errs[0]
	}
	return nil, errors.Join(errs...)
}

// try connects to one host. It takes no more than its share of the time that is left: a server that accepts connections
// and then hangs must not use up what the others need.
func (h *hosts) try(ctx context.Context, one host, left int) (fullConn, error) {
	attempt := h.attempt
	if deadline, ok := ctx.Deadline(); ok {
		attempt = min(attempt, time.Until(deadline)/time.Duration(left))
	}
	ctx, cancel := context.WithTimeout(ctx, attempt)
	defer cancel()
	plain, err := one.connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn, ok := plain.(fullConn)
	if !ok {
		return nil, errors.Join(errors.New("the driver's connections lack what is needed"), plain.Close())
	}
	if len(h.list) > 1 {
		err = writable(ctx, conn)
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return conn, nil
}

// writable asks a server whether it takes writes. One that is not part of a cluster's majority answers with an error.
func writable(ctx context.Context, conn driver.QueryerContext) error {
	rows, err := conn.QueryContext(ctx, "SELECT @@global.read_only", nil)
	if err != nil {
		return fmt.Errorf("asking whether it takes writes: %w", err)
	}
	values := make([]driver.Value, 1)
	err = errors.Join(rows.Next(values), rows.Close())
	if err != nil {
		return fmt.Errorf("asking whether it takes writes: %w", err)
	}
	var answer string
	switch v := values[0].(type) {
	case []byte:
		answer = string(v)
	default:
		answer = fmt.Sprint(v)
	}
	if answer != "0" && answer != "OFF" {
		return errno.ErrNotWritable
	}
	return nil
}

// leave gives up a host on which a connection found out that it takes no writes any more.
func (h *hosts) leave(epoch uint64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.epoch == epoch {
		h.epoch++
		h.at = (h.at + 1) % len(h.list)
	}
}

func (h *hosts) current(epoch uint64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.epoch == epoch
}
