package program

import (
	"context"
	"fmt"
	"time"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/times"
)

// Moment returns the time that a flag means, or the zero time where it was not given. The database is asked for its
// time only where that matters.
func (s *Session) Moment(ctx context.Context, flag, text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	var now time.Time
	if times.Relative(text) {
		var err error
		if now, err = s.Now(ctx); err != nil {
			return time.Time{}, err
		}
	}
	t, err := times.Parse(text, now)
	if err != nil {
		return time.Time{}, exit.Usage(fmt.Errorf("--%s: %w", flag, err))
	}
	return t, nil
}

// Period returns the times that --from and --before mean, by which names every command asks for a span of time; the zero time for one that
// was not given.
func (s *Session) Period(ctx context.Context, from, before string) (begin, end time.Time, err error) {
	if begin, err = s.Moment(ctx, "from", from); err == nil {
		end, err = s.Moment(ctx, "before", before)
	}
	return begin, end, err
}
