package rig

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

const (
	beatEvery = 20 * time.Millisecond
	lookEvery = 5 * time.Millisecond
)

// Beats are small transactions on a server, each with the next number: when each was committed there, and seen on a replica.
type Beats struct {
	replica *Replica
	before  int // the number that the first follows
	stop    chan struct{}
	all     *errgroup.Group

	mu        sync.Mutex
	over      bool // the last was committed
	committed []time.Time
	seen      []time.Time // of the first ones
}

// MakeBeats makes the table that they write to.
func (p *Place) MakeBeats(ctx context.Context) error {
	for _, query := range []string{"CREATE TABLE bench_beat (id INT NOT NULL PRIMARY KEY, n INT NOT NULL)", "INSERT INTO bench_beat VALUES (1, 0)"} {
		if _, err := p.App.ExecContext(ctx, query); err != nil {
			return err
		}
	}
	return nil
}

// StartBeats begins to commit them, and to look for them on the replica.
func (r *Replica) StartBeats(ctx context.Context, p *Place) *Beats {
	s := &Beats{replica: r, before: r.beats, stop: make(chan struct{})}
	s.all, ctx = errgroup.WithContext(ctx)
	s.all.Go(func() error { return s.beat(ctx, p) })
	s.all.Go(func() error { return s.look(ctx, p) })
	return s
}

// beat commits one after the other, and a last one when they are stopped.
func (s *Beats) beat(ctx context.Context, p *Place) error {
	for over := false; !over; {
		select {
		case <-s.stop:
			over = true
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(beatEvery):
		}
		if _, err := p.App.ExecContext(ctx, "UPDATE bench_beat SET n = ? WHERE id = 1", s.before+len(s.committed)+1); err != nil {
			return err
		}
		s.mu.Lock()
		s.committed, s.over = append(s.committed, time.Now()), over
		s.mu.Unlock()
	}
	return nil
}

// look notes when they are seen, until the last one is.
func (s *Beats) look(ctx context.Context, p *Place) error {
	query := "SELECT n FROM " + p.Name + ".bench_beat WHERE id = 1"
	for over := false; !over; {
		if err := Pause(ctx, lookEvery); err != nil {
			return err
		}
		var n int
		if err := s.replica.db.QueryRowContext(ctx, query).Scan(&n); err != nil {
			return err
		}
		over = s.saw(n)
	}
	return nil
}

// saw takes note that the replica has all up to a number, and says whether those are all.
func (s *Beats) saw(n int) bool {
	now := time.Now()
	s.mu.Lock()
	defer s.mu.Unlock()
	for len(s.seen) < min(n-s.before, len(s.committed)) {
		s.seen = append(s.seen, now)
	}
	return s.over && len(s.seen) == len(s.committed)
}

// Behind ends them when the replica has all. It returns by how much the replica was behind at most from a time up to a last
// one, and how long after that last one it had everything that was committed by then.
func (s *Beats) Behind(from, last time.Time) (most, after time.Duration, err error) {
	close(s.stop)
	if err := s.all.Wait(); err != nil {
		return 0, 0, err
	}
	s.replica.beats += len(s.committed)
	most, after = behind(s.committed, s.seen, from, last)
	return most, after, nil
}

func behind(committed, seen []time.Time, from, last time.Time) (most, after time.Duration) {
	for i, at := range committed {
		if at.Before(from) {
			continue
		}
		most = max(most, seen[i].Sub(at))
		if !at.Before(last) { // the first that was committed after everything
			return most, seen[i].Sub(last)
		}
	}
	return most, after
}
