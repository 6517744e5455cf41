package check

import (
	"testing"
	"time"

	"prescient/prescient"
)

func TestWhatHappensNextIsSaid(t *testing.T) {
	now := time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)
	slot, expires := now.Add(15*time.Minute), now.Add(time.Hour)
	five := &guards{MaxChecks: 5, MaxErrors: 5}
	for name, test := range map[string]struct {
		ahead ahead
		job   prescient.FutureJob
		want  string
	}{
		"the third time": {ahead{guards: five}, prescient.FutureJob{CheckCount: 2},
			"At 2026-11-20 13:15:00 UTC (in 15 min) ship is called for the third time. It may ask for another time 3 times. After an error it is called again, 5 times at most."},
		"after errors": {ahead{guards: five}, prescient.FutureJob{CheckCount: 4, ErrorCount: 4},
			"At 2026-11-20 13:15:00 UTC (in 15 min) ship is called for the fifth time, after 4 errors in a row. It may ask for another time once. After an error it is called again, once at most."},
		"the last try": {ahead{guards: five}, prescient.FutureJob{CheckCount: 5, ErrorCount: 5},
			"At 2026-11-20 13:15:00 UTC (in 15 min) ship is called for the sixth time, after 5 errors in a row. It may not ask for another time. With an error it ends as failed."},
		"no retries": {ahead{guards: &guards{MaxChecks: prescient.None, MaxErrors: prescient.None}}, prescient.FutureJob{},
			"At 2026-11-20 13:15:00 UTC (in 15 min) ship is called for the first time. It may not ask for another time. With an error it ends as failed."},
		"without end": {ahead{guards: &guards{Endless: true}}, prescient.FutureJob{CheckCount: 20}, "At 2026-11-20 13:15:00 UTC (in 15 min) ship is called for the 21st time. It goes on without end."},
		"overdue": {ahead{guards: &guards{Endless: true}}, prescient.FutureJob{NextCheckAt: now.Add(-time.Hour)},
			"Its slot came at 2026-11-20 12:00:00 UTC (1 h ago): as soon as a worker takes it ship is called for the first time. It goes on without end."},
		"nobody knows it": {ahead{}, prescient.FutureJob{}, "At 2026-11-20 13:15:00 UTC (in 15 min) it is put off, unless a worker knows ship by then: none has told of it."},
		"paused": {ahead{guards: five, paused: &prescient.Paused{JobExec: "ship", By: "ada", Reason: "deploy"}}, prescient.FutureJob{},
			"At 2026-11-20 13:15:00 UTC (in 15 min) it is put off to the next slot, as ship is paused by ada (deploy), until the pause is lifted."},
		"all is paused": {ahead{guards: five, paused: &prescient.Paused{JobExec: "*"}}, prescient.FutureJob{},
			"At 2026-11-20 13:15:00 UTC (in 15 min) it is put off to the next slot, as everything is paused, until the pause is lifted."},
		"it expires before": {ahead{guards: five}, prescient.FutureJob{ExpiresAt: &slot}, "At 2026-11-20 13:15:00 UTC (in 15 min) it ends as expired, without a call: it expires at 2026-11-20 13:15:00 UTC."},
		"it expires later": {ahead{guards: &guards{Endless: true}}, prescient.FutureJob{ExpiresAt: &expires},
			"At 2026-11-20 13:15:00 UTC (in 15 min) ship is called for the first time. It goes on without end. Where it is not called before 2026-11-20 14:00:00 UTC, it ends as expired."},
		"it expires by its guard": {ahead{guards: &guards{MaxChecks: prescient.None, MaxErrors: prescient.None, ExpiresAfter: 600_000}}, prescient.FutureJob{DueAt: now.Add(12 * time.Minute)},
			"At 2026-11-20 13:15:00 UTC (in 15 min) ship is called for the first time. It may not ask for another time. With an error it ends as failed. Where it is not called before 2026-11-20 13:22:00 UTC, it ends as expired."},
		"a long run": {ahead{under: true}, prescient.FutureJob{}, "Its long run is under way."},
	} {
		job := test.job
		job.JobExec = "ship"
		if job.NextCheckAt.IsZero() {
			job.NextCheckAt = slot
		}
		test.ahead.now = now
		if got := test.ahead.next(job); got != test.want {
			t.Errorf("%s: %s\nwant %s", name, got, test.want)
		}
	}
}

func TestOrdinals(t *testing.T) {
	for n, want := range map[int]string{1: "first", 10: "tenth", 11: "11th", 12: "12th", 13: "13th", 21: "21st", 22: "22nd", 103: "103rd", 111: "111th", 124: "124th"} {
		if got := ordinal(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
