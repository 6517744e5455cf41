package stage

import (
	"context"
	"time"

	"prescient/scripts/chaos/checker"
)

// stillFor is how long nothing has to happen for the journal to note that the machine stood still: other work has the cores, or whoever
// runs the machine has stopped it. Workers renew a lease when a third of it is over, so that less costs none by itself.
const stillFor = Lease / 4

// watchMachine notes when this process did not get to run, until ctx ends.
func watchMachine(ctx context.Context, journal *checker.Journal) {
	const tick = 50 * time.Millisecond
	go func() {
		for before := journal.Now(); Pause(ctx, tick); {
			now := journal.Now()
			if now-before-tick >= stillFor {
				journal.NoteAt(checker.Event{Kind: checker.Stall, At: now, Took: now - before})
			}
			before = now
		}
	}()
}

// watchClock asks the database for its time, again and again, until ctx ends. It notes when the server did not get to answer.
func watchClock(ctx context.Context, dsn string, journal *checker.Journal) error {
	db, err := open(with(dsn, "parseTime=true&timeout=1s&readTimeout=3s"))
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
				if after-before >= stillFor {
					journal.NoteAt(checker.Event{Kind: checker.Stall, At: after, Took: after - before})
				}
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
