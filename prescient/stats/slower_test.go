package stats

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/internal/tally"
	"prescient/prescient/stats/drift"
)

// today is when the tests look, and daysAgo the UTC day so many before it.
var today = rig.At("13:00")

func daysAgo(n int) string { return today.AddDate(0, 0, -n).Format(time.DateOnly) }

// What has become slower is told with its day and its times; what has not is left out, as is what is there for a few days only.
func TestWhatBecameSlowerIsTold(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *whole.Rig) {
		var buckets, steps []string
		add := func(ago int, exec, measure string, ms int64, n int) {
			for _, entity := range []string{"order", "user"} {
				buckets = append(buckets, fmt.Sprintf("('day', '%s', '%s', '%s', '%s', %d, %d)", daysAgo(ago), exec, entity, measure, tally.BucketOf(ms), n))
			}
		}
		for ago := 1; ago <= drift.Span; ago++ {
			add(ago, "steady", "run", 200, 40)
			add(ago, "late", "run", 100, 40)
			add(ago, "late", "lateness", 100_000/int64(ago), 40)
			add(ago, "rare", "run", 100_000/int64(ago), 20)
			slow := int64(400)
			if ago <= 3 {
				slow = 900
			}
			add(ago, "sudden", "run", slow, 40)
			add(ago, "gradual", "run", 2000-30*int64(ago), 40)
			if ago <= 10 {
				add(ago, "new", "run", 1000/int64(ago), 40)
			}
			for i, ms := range map[string]int64{"export": slow, "report": 300} {
				steps = append(steps, fmt.Sprintf("('nightly', '%d', %d, 1, '%s', 'e', 1, '%[4]s 03:00:00', '%[4]s 03:00:00', TIMESTAMP'%[4]s 03:00:00' + INTERVAL %d MICROSECOND, 'a', 'done')",
					1_000_000+ago, len(i)+int(i[0]), i, daysAgo(ago), 1000*ms))
			}
			steps = append(steps, fmt.Sprintf("('nightly', '%d', 9, 1, 'export', 'e', 1, '%[2]s 04:00:00', '%[2]s 04:00:00', '%[2]s 04:00:01', 'a', 'failed'), ('nightly', '%[1]d', 10, 1, 'export', 'e', 1, '%[2]s 04:00:00', '%[2]s 04:00:00', NULL, 'a', NULL)",
				1_000_000+ago, daysAgo(ago)))
		}
		r.Exec("INSERT INTO p_stats_bucket (grain, start, job_exec, entity_name, measure, bucket, n) VALUES " + strings.Join(buckets, ","))
		r.Exec("INSERT INTO p_step_run_log (job, occurrence, seq, position, step, job_exec, attempt, scheduled_at, started_at, ended_at, agent, result) VALUES " + strings.Join(steps, ","))
		report, err := SlowBy(t.Context(), r.As("analyst", time.Time{}), r.Tables(), today)
		r.Must(err)
		var got []string
		for _, s := range report.Slower {
			got = append(got, fmt.Sprintf("%s %s/%s %s %s", s.JobExec, s.Job, s.Step, s.Kind, s.Since.Format(time.DateOnly)))
			if from, to := s.FromMS, s.ToMS; s.Kind == drift.Sudden && (from < 400 || from > 425 || to < 900 || to > 950) {
				t.Errorf("%+v", s)
			}
		}
		want := []string{"e nightly/export sudden " + daysAgo(3), "sudden / sudden " + daysAgo(3)}
		if len(got) != 3 || got[0] != want[0] || got[1] != want[1] || !strings.HasPrefix(got[2], "gradual / gradual ") || report.Cut {
			t.Errorf("%q, cut %v; want %q, and gradual", got, report.Cut, want)
		}
		whole, err := Slow(t.Context(), r.As("operator", today), "p_", r.Setting)
		r.Must(err)
		if len(whole.Slower) != 3 {
			t.Errorf("by the clock: %+v", whole)
		}
	})
}

// However much there is, a bounded part of it is read: days that are whole, from the latest on.
func TestTheLatestDaysAreRead(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *whole.Rig) {
		var rows []string
		for ago := 1; ago <= 5; ago++ {
			for bucket := range 4 {
				rows = append(rows, fmt.Sprintf("('day', '%s', 'e', 'order', 'run', %d, 7)", daysAgo(ago), bucket))
			}
		}
		r.Exec("INSERT INTO p_stats_bucket (grain, start, job_exec, entity_name, measure, bucket, n) VALUES " + strings.Join(rows, ","))
		for most, want := range map[int]int{3: 0, 4: 1, 11: 2, 19: 4, 20: 5} {
			all, cut, err := runDays(t.Context(), r.As("operator", time.Time{}), r.Tables(), "stats/run_days", today.Truncate(24*time.Hour), most)
			r.Must(err)
			days := all[ran{jobExec: "e"}]
			if len(days) != want || cut != (most < 20) {
				t.Errorf("of %d lines: %v; cut %v", most, days, cut)
			}
			for start, runs := range days {
				if len(runs) != 4 || runs[3] != 7 {
					t.Errorf("%s: %v", start, runs)
				}
			}
		}
	})
}
