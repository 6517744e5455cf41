package connect

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"prescient/prescient/internal/errno"
)

// sessions makes connections and sets on each what a worker relies on: by one statement, since most of a worker's
// connections are new. The names of some variables differ between servers, and others are there in a cluster only; which
// of them a server has is found out on the first connection to it.
type sessions struct {
	driver.Connector
	settings string        // for every server
	limit    time.Duration // of a statement; 0 for none
	known    atomic.Pointer[string]
}

// choices are settings of which the first is taken whose variable there is.
var choices = [...]struct {
	of   []string
	must bool // one of them
}{
	{[]string{"SESSION transaction_isolation = 'READ-COMMITTED'", "SESSION tx_isolation = 'READ-COMMITTED'"}, true},
	// A statement that waited for a row takes it as it is by then: MariaDB, by default from 11.6 on, would refuse a row that
	// was changed since the statement began. Workers wait for each other in the ledger, and know a row by its token.
	{[]string{"SESSION innodb_snapshot_isolation = OFF"}, false},
	// A read sees what was committed before it on another node: Galera waits until the node has applied it; a new primary
	// of a replication group answers once it has applied what the old one left.
	{[]string{"SESSION wsrep_sync_wait = 1"}, false},
	{[]string{"SESSION group_replication_consistency = 'BEFORE_ON_PRIMARY_FAILOVER'"}, false},
}

// Connect implements driver.Connector.
func (s *sessions) Connect(ctx context.Context) (driver.Conn, error) {
	conn, err := s.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	exec, ok := conn.(driver.ExecerContext)
	if !ok {
		return nil, errors.Join(errors.New("the driver executes no statements"), conn.Close())
	}
	if err := s.set(ctx, exec); err != nil {
		return nil, errors.Join(fmt.Errorf("setting up the connection: %w", err), conn.Close())
	}
	return conn, nil
}

func (s *sessions) set(ctx context.Context, conn driver.ExecerContext) error {
	if known := s.known.Load(); known != nil {
		err := set(ctx, conn, *known)
		if !errno.Is(err, errno.UnknownVariable) {
			return err
		}
		// Another server than before, or one without a plugin that it had.
	}
	if err := set(ctx, conn, s.settings); err != nil {
		return err
	}
	all := []string{s.settings}
	for _, choice := range choices {
		one, err := firstKnown(ctx, conn, choice.of)
		switch {
		case err == nil:
			all = append(all, one)
		case choice.must || !errno.Is(err, errno.UnknownVariable):
			return err
		}
	}
	if s.limit > 0 {
		one, err := firstKnown(ctx, conn, []string{fmt.Sprintf("SESSION max_execution_time = %d", s.limit.Milliseconds()), fmt.Sprintf("SESSION max_statement_time = %d", int(s.limit.Seconds()))})
		if err != nil {
			return err
		}
		all = append(all, one)
	}
	known := strings.Join(all, ", ")
	s.known.Store(&known)
	return nil
}

// firstKnown sets the first of some settings whose variable the server knows, and returns it.
func firstKnown(ctx context.Context, conn driver.ExecerContext, settings []string) (one string, err error) {
	for _, one = range settings {
		if err = set(ctx, conn, one); !errno.Is(err, errno.UnknownVariable) {
			return one, err
		}
	}
	return one, err
}

func set(ctx context.Context, conn driver.ExecerContext, settings string) error {
	_, err := conn.ExecContext(ctx, "SET "+settings, nil)
	return err
}
