package prune

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/slots"
)

// The clock of the database jumps ahead, for good. By it all that there is is old; Prune leaves it, until somebody says that
// the clock is right.
func TestPruneRefusesAClockThatJumpedAhead(t *testing.T) {
	const days = 24 * time.Hour
	eachFlavour(t, func(t *testing.T, r *testRig) {
		worked := func(from, to time.Time) {
			var rows []byte
			for day := from; day.Before(to); day = day.AddDate(0, 0, 1) {
				if len(rows) > 0 {
					rows = append(rows, ',')
				}
				rows = fmt.Appendf(rows, "('%[1]s', 0, 1, '%[1]s')", day.Format(literal.SecondLayout))
			}
			if len(rows) > 0 {
				r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets, finished_at) VALUES " + string(rows))
			}
		}
		for _, c := range []struct {
			name          string
			since, jump   time.Duration // it ran since so long ago, until the clock jumped
			after         time.Duration // and went on for so long
			ends, refused bool          // there is history too, of the last day
		}{
			{"all is well", 200 * days, 0, 0, true, false},
			{"new", 3 * days, 0, 0, true, false},
			{"empty", 0, 0, 0, false, false},
			{"nothing was pruned for two years", 800 * days, 0, 0, true, false},
			{"a month without a worker", 200 * days, 30 * days, 0, true, false},
			{"a year ahead", 200 * days, 365 * days, 0, true, true},
			{"a year ahead, history alone", 0, 365 * days, 0, true, true},
			{"a year ahead, the ledger alone", 200 * days, 365 * days, 0, false, true},
			{"a year ahead, and workers go on", 200 * days, 365 * days, 2 * days, true, true},
			{"a year ahead, and workers go on for a month", 200 * days, 365 * days, 29 * days, true, true},
			{"by most of what is kept, and workers go on", 200 * days, 75 * days, 8 * days, true, true},
		} {
			r.Exec("DELETE FROM p_slot_run")
			r.Exec("DELETE FROM p_job_history")
			worked(rig.Day.Add(-c.since), rig.Day.Add(time.Second))
			if c.ends {
				r.end(0, "42")
			}
			worked(rig.Day.Add(c.jump), rig.Day.Add(c.jump+c.after))
			now := rig.At("10:05").Add(c.jump + c.after)
			rows := r.Count("SELECT COUNT(*) FROM p_slot_run") + r.Count("SELECT COUNT(*) FROM p_job_history")
			report, err := Run(t.Context(), r.Pool(now), Options{Prefix: "p_", Keep: 90 * days})
			if errors.Is(err, ErrClockDoubtful) != c.refused || err != nil && !c.refused {
				t.Errorf("%s: %v; want it refused: %t", c.name, err, c.refused)
			}
			left := r.Count("SELECT COUNT(*) FROM p_slot_run") + r.Count("SELECT COUNT(*) FROM p_job_history")
			if c.refused && (left != rows || report.Cutoff != nil || !rig.Contains(err, slots.Stamp(now))) {
				t.Errorf("%s: refused, and %d of %d rows are left; %v", c.name, left, rows, err)
			}
			_, err = Run(t.Context(), r.Pool(now), Options{Prefix: "p_", Keep: 90 * days, TrustClock: true})
			if old := r.Count("SELECT COUNT(*) FROM p_slot_run WHERE slot < ?", now.Add(-90*days)); err != nil || old > 0 {
				t.Errorf("%s, with trust: %d old slots are left: %v", c.name, old, err)
			}
		}
	})
}
