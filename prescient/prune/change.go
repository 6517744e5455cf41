package prune

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/cenkalti/backoff/v5"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
)

// Numbers of errors: of a change of partitions that somebody else did meanwhile, as on another node of a cluster, and of a
// variable.
const (
	errNoSuchPartition   = 1507
	errPartitionIsThere  = 1517
	errWrongReorganizing = 1520
	errWrongValue        = 1231
)

const (
	// quickEvery is the time between two tries that do not wait for the table, jittered by a half; four times what the last
	// one took are added, since one that splits a partition makes the files of the parts before it asks for the table.
	quickEvery = 100 * time.Millisecond
	// maxQuick bounds how long that goes on, and half of the patience does.
	maxQuick = 20 * time.Second
	// restBetween is the least time between two tries that wait, jittered by a half: one slot run is to meet one of them.
	restBetween = 3 * time.Second
)

// change changes partitions, again and again until the limit while somebody has history open.
//
// A try that waits for the table holds up whoever comes to it meanwhile, slot runs included: on MySQL for the second that
// it waits, on MariaDB for up to three, since it asks for the table step by step and once more to clean up. So where the
// server has tries that do not wait, they come first. They do not get the table where transactions follow so closely on
// one another that it is never free; then the ones that wait do, with time between them in which slot runs go on.
func (p *pruner) change(ctx context.Context, limit time.Time, statement string) error {
	done, err := p.quickly(ctx, time.Now().Add(min(maxQuick, time.Until(limit)/2)), statement)
	if err == nil {
		err = p.waitFor(ctx, 1)
	}
	if done || err != nil {
		return err
	}
	waits := backoff.NewExponentialBackOff()
	waits.InitialInterval = restBetween
	waits.Multiplier = 2
	waits.MaxInterval = 15 * time.Second
	_, err = backoff.Retry(ctx, func() (struct{}, error) {
		again, err := p.try(ctx, statement)
		if err != nil && !again {
			return struct{}{}, backoff.Permanent(err)
		}
		if errno.Is(err, errno.LockWaitTimeout) {
			p.report.HeldBy = p.holders(ctx)
			p.options.Log.Info().Stringers("held_by", stringers(p.report.HeldBy)).Msg("history is held open; its partitions are changed later")
		}
		return struct{}{}, err
	}, backoff.WithBackOff(waits), backoff.WithMaxElapsedTime(max(time.Until(limit), time.Nanosecond)))
	switch {
	case err == nil:
		p.report.HeldBy = nil
	case errno.Is(err, errno.LockWaitTimeout, errno.Deadlock):
		return fmt.Errorf("%w: tried for %s; %s: %w", ErrHistoryHeld, p.options.Patience, p.suspects(), err)
	}
	return err
}

// quickly tries without waiting for the table, until it is done or the limit is over.
func (p *pruner) quickly(ctx context.Context, limit time.Time, statement string) (done bool, err error) {
	can, err := p.canBeQuick(ctx)
	if !can || err != nil {
		return false, err
	}
	for {
		begin := time.Now()
		again, err := p.try(ctx, statement)
		if err == nil || !again {
			return err == nil, err
		}
		nap := quickEvery/2 + rand.N(quickEvery) + 4*time.Since(begin)
		if time.Now().Add(nap).After(limit) {
			return false, nil
		}
		if err := store.Sleep(ctx, nap); err != nil {
			return false, err
		}
	}
}

// canBeQuick sees to it that tries do not wait, where that can be: MariaDB takes a lock_wait_timeout of 0, MySQL in strict
// mode refuses it. Not in a Galera cluster: each node does the change for itself, and one that found its table held and did not
// wait would have other tables than the rest.
func (p *pruner) canBeQuick(ctx context.Context) (bool, error) {
	var cluster bool
	err := p.conn.QueryRowxContext(ctx, "SELECT @@wsrep_on").Scan(&cluster)
	if err != nil && !errno.Is(err, errno.UnknownVariable) {
		return false, fmt.Errorf("asking whether this is a cluster: %w", err)
	}
	if cluster {
		return false, nil
	}
	if err = p.waitFor(ctx, 0); errno.Is(err, errWrongValue) {
		return false, nil
	}
	return err == nil, err
}

// waitFor bounds the wait for a table.
func (p *pruner) waitFor(ctx context.Context, seconds int) error {
	if _, err := p.conn.ExecContext(ctx, fmt.Sprintf("SET SESSION lock_wait_timeout = %d", seconds)); err != nil {
		return fmt.Errorf("bounding the wait for history: %w", err)
	}
	return nil
}

// try tries a change once. Somebody has history open where it is to be tried again.
func (p *pruner) try(ctx context.Context, statement string) (again bool, err error) {
	_, err = p.conn.ExecContext(ctx, statement)
	if errno.Is(err, errNoSuchPartition, errPartitionIsThere, errWrongReorganizing) {
		err = fmt.Errorf("somebody else changes the partitions: %w", err)
	}
	return errno.Is(err, errno.LockWaitTimeout, errno.Deadlock), err
}

// suspects says who has history open.
func (p *pruner) suspects() string {
	if len(p.report.HeldBy) == 0 {
		return "this user may not see by whom"
	}
	var names []string
	for _, h := range p.report.HeldBy {
		names = append(names, h.String())
	}
	return "by " + strings.Join(names, ", ")
}

// holders asks who has history open; nobody, where the server does not tell.
func (p *pruner) holders(ctx context.Context) []Holder {
	for _, query := range []string{"prune/holders", "prune/open_transactions"} {
		var list []Holder
		if err := p.conn.SelectContext(ctx, &list, p.tables.Stmt.Get(query)); err == nil && len(list) > 0 {
			return list
		}
	}
	return nil
}

func stringers(list []Holder) (all []fmt.Stringer) {
	for _, h := range list {
		all = append(all, h)
	}
	return all
}
