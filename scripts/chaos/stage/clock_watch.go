package stage

import (
	"context"
	"time"

	"prescient/scripts/chaos/checker"
)

// watchClock asks the database for its time, again and again, until ctx ends.
func watchClock(ctx context.Context, dsn string, journal *checker.Journal) error {
	db, err := open(with(dsn, "parseTime=true&timeout=1s&readTimeout=1s"))
	if err != nil {
		return err
	}
	go func() {
		defer db.Close()
		for ctx.Err() == nil {
			before := journal.Now()
			var told time.Time
			if err := db.QueryRowContext(ctx, "SELECT UTC_TIMESTAMP(6)").Scan(&told); err == nil {
				after := journal.Now()
				journal.NoteAt(checker.Event{Kind: checker.Clock, At: after, Took: after - before, Told: told})
			}
			Pause(ctx, 50*time.Millisecond)
		}
	}()
	return nil
}

// Pause waits; it says whether ctx still lives.
func Pause(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
