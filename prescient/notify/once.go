package notify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"prescient/prescient/doctor"
	"prescient/prescient/internal/duty"
)

// ErrUntold is wrapped by the error of Once where a receiver could not be told.
var ErrUntold = errors.New("a receiver could not be told")

// Once looks, and tells receivers what follows, for a timer: it returns once each of them has acknowledged, or could not be told, which is an error that
// wraps ErrUntold. What could not be told is kept, and the next one tries again. Where another process tells receivers, it does nothing, and told is
// false. worker is as for Serve.
func (n *Notifier) Once(ctx context.Context, worker string) (told bool, err error) {
	opening, cancel := context.WithTimeout(ctx, openTime)
	defer cancel()
	t, err := n.open(opening, worker)
	if err != nil {
		return false, err
	}
	held, err := t.take(ctx)
	if err != nil || held == nil {
		return false, err
	}
	if err = n.leadOnce(ctx, t, held); errors.Is(err, duty.ErrLost) {
		return false, nil
	}
	return err == nil || errors.Is(err, ErrUntold), err
}

// leadOnce tells twice: who cannot be told is known behind the first time, and told to the others by the second.
func (n *Notifier) leadOnce(ctx context.Context, t table, held lease) error {
	ctx, l, stop := n.leads(ctx, t, held)
	defer stop()
	keep := time.NewTicker(keepEvery)
	defer keep.Stop()
	result := l.look(ctx)
	var found []doctor.Finding
	for told, looked := 0, false; ; {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-keep.C:
			if err := held.Keep(ctx); err != nil && !held.Alive() {
				return err
			}
		case one := <-result:
			if one.err != nil {
				return one.err
			}
			found, looked = one.found, true
		case e := <-l.ended:
			l.note(e)
		}
		for looked && !l.isTelling() {
			s := l.see(slices.Clone(found))
			switch told++; told {
			case 1:
				s.unread[Code] = true
			case 3:
				return l.unreached()
			}
			if err := l.tell(ctx, s); err != nil && !errors.Is(err, errLocked) {
				return err
			}
		}
	}
}

// isTelling says whether a message is under way.
func (l *leader) isTelling() bool {
	for _, c := range l.to {
		if c.busy {
			return true
		}
	}
	return false
}

// unreached is an error that names who could not be told; nil where nobody is.
func (l *leader) unreached() (err error) {
	for _, r := range l.options.Settings.Receivers {
		if c := l.to[r.Name]; c.err != nil {
			err = errors.Join(err, fmt.Errorf("%w: %s: %w", ErrUntold, r.Name, c.err))
		}
	}
	return err
}
