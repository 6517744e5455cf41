package schedule_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
)

// A night on which the clocks of a zone are changed: what its crontabs fire after from, until to, all in UTC.
type night struct {
	name, zone, from, to string
	fires                map[string]string // times, by crontab
}

var nights = []night{
	// Berlin has no 02:00 to 03:00 in spring, and has it twice in autumn.
	{"Berlin ahead", "Europe/Berlin", "2026-03-28T23:30", "2026-03-29T03:00", map[string]string{
		"30 2 * * *": "01:00", "0 3 * * *": "01:00", "30 * * * *": "00:30 01:30 02:30", "*/30 2,3 * * *": "01:00 01:30"}},
	{"Berlin back", "Europe/Berlin", "2026-10-24T23:30", "2026-10-25T03:00", map[string]string{
		"30 2 * * *": "00:30", "0 3 * * *": "02:00", "30 * * * *": "00:30 01:30 02:30", "*/30 1-3 * * *": "00:00 00:30 02:00 02:30"}},
	// New York has no 02:00 to 03:00, and 01:00 to 02:00 twice.
	{"New York ahead", "America/New_York", "2026-03-08T05:30", "2026-03-08T08:30", map[string]string{
		"30 2 * * *": "07:00", "0 * * * *": "06:00 07:00 08:00", "30 2 * * sun": "07:00"}},
	{"New York back", "America/New_York", "2026-11-01T04:30", "2026-11-01T07:30", map[string]string{
		"30 1 * * *": "05:30", "0 * * * *": "05:00 06:00 07:00", "0 2 * * *": "07:00"}},
	// Lord Howe is put by half an hour: it has no 02:00 to 02:30, and 01:30 to 02:00 twice.
	{"Lord Howe ahead", "Australia/Lord_Howe", "2026-10-03T14:30", "2026-10-03T16:30", map[string]string{
		"15 2 * * *": "15:30", "45 2 * * *": "15:45", "15 * * * *": "14:45 16:15"}},
	{"Lord Howe back", "Australia/Lord_Howe", "2026-04-04T13:30", "2026-04-04T16:30", map[string]string{
		"45 1 * * *": "14:45", "0 2 * * *": "15:30", "45 * * * *": "13:45 14:45 15:15 16:15"}},
	// Santiago has no midnight on one night, and 23:00 to midnight twice on another.
	{"Santiago ahead", "America/Santiago", "2026-09-06T02:30", "2026-09-06T05:30", map[string]string{
		"@daily": "04:00", "30 0 * * sun#1": "04:00", "0 * * * *": "03:00 04:00 05:00"}},
	{"Santiago back", "America/Santiago", "2026-04-05T01:30", "2026-04-05T04:30", map[string]string{
		"30 23 * * *": "02:30", "@daily": "04:00", "0 * * * *": "02:00 03:00 04:00"}},
	// Casablanca is put back for Ramadan, and ahead after it.
	{"Casablanca back", "Africa/Casablanca", "2026-02-15T01:00", "2026-02-15T04:00", map[string]string{
		"30 2 * * *": "01:30", "30 * * * *": "01:30 02:30 03:30", "0 3 * * *": "03:00"}},
	{"Casablanca ahead", "Africa/Casablanca", "2026-03-22T01:00", "2026-03-22T04:00", map[string]string{
		"30 2 * * *": "02:00", "30 * * * *": "01:30 02:30 03:30", "@every 1h": "02:00 03:00 04:00"}},
}

// On the nights on which clocks are changed, each occurrence is run once, and its event is sent once, in its own slot: no more and
// no fewer of them than the crontabs mean in that zone.
func TestNightsOnWhichClocksAreChanged(t *testing.T) {
	const resolution = 30 * time.Minute
	utc := func(text string) time.Time {
		at, err := time.Parse("2006-01-02T15:04", text)
		if err != nil {
			t.Fatal(err)
		}
		return at
	}
	eachServerOn(t, resolution, func(t *testing.T, r *testRig) {
		for _, n := range nights {
			began, ends := utc(n.from), utc(n.to)
			wantRuns, wantEvents := make(map[time.Time][]string), make(map[time.Time][]string) // ids, by slot
			var ids []string
			for crontab, clocks := range n.fires {
				run := schedule.Schedule{ID: n.name + " run " + crontab, Crontabs: []string{crontab}, Zone: n.zone, JobExec: "digest"}
				event := schedule.Schedule{ID: n.name + " event " + crontab, Crontabs: []string{crontab}, Zone: n.zone, Topic: "nights"}
				_, err := r.schedules.CreateMany(t.Context(), r.AppAt(began), []schedule.Schedule{run, event})
				r.Must(err)
				ids = append(ids, run.ID, event.ID)
				for _, clock := range strings.Fields(clocks) {
					at := utc(n.to[:len("2026-03-29T")] + clock)
					slot := at.Add(resolution - 1).Truncate(resolution)
					wantRuns[slot] = append(wantRuns[slot], fmt.Sprintf("%s-%d", run.ID, at.Unix()))
					wantEvents[slot] = append(wantEvents[slot], fmt.Sprintf("%s-%d", event.ID, at.Unix()))
				}
			}
			for slot := began.Add(resolution); !slot.After(ends); slot = slot.Add(resolution) {
				r.RunAt(slot.Add(time.Second), r.registry, worker.Options{})
				for what, lists := range map[string][2][]string{"runs": {r.ids(), wantRuns[slot]}, "events": {r.sent(), wantEvents[slot]}} {
					slices.Sort(lists[0])
					slices.Sort(lists[1])
					if !slices.Equal(lists[0], lists[1]) {
						t.Errorf("%s, %s of slot %s:\n%q; want\n%q", n.name, what, slot.Format("15:04"), lists[0], lists[1])
					}
				}
			}
			deleted, err := r.schedules.Delete(t.Context(), r.AppAt(ends.Add(time.Minute)), ids...)
			r.Must(err)
			if left := r.Count(rig.CountPending); deleted != len(ids) || left != 0 {
				t.Errorf("%s: %d schedules were deleted, %d rows are left", n.name, deleted, left)
			}
		}
		r.Balanced()
	})
}

// sent takes what is in the outbox, and returns its ids.
func (r *testRig) sent() []string {
	r.T.Helper()
	ids := r.events()
	r.Exec("DELETE FROM p_event_outbox")
	return ids
}
