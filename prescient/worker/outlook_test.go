package worker

import (
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/internal/ledger"
)

func TestTheLedgerTellsWhatIsToBeHadAndWhen(t *testing.T) {
	free := ledger.Row{}
	lapsed := ledger.Row{Allocated: true}
	finished := ledger.Row{Finished: true}
	held := func(d time.Duration) ledger.Row { return ledger.Row{Allocated: true, LivesFor: d} }
	for _, test := range []struct {
		name string
		list []ledger.Row
		held int
		next prospect
	}{
		{"nothing", nil, 0, prospect{}},
		{"all finished", []ledger.Row{finished, finished}, 0, prospect{}},
		{"free and lapsed ones", []ledger.Row{free, lapsed, finished}, 0, prospect{free: 2}},
		{"held by others", []ledger.Row{held(time.Minute), held(time.Second), held(time.Hour), finished}, 3, prospect{lapses: time.Second}},
		{"some of each", []ledger.Row{held(time.Minute), free, finished}, 1, prospect{free: 1, lapses: time.Minute}},
	} {
		if held, next := outlook(test.list); held != test.held || next != test.next {
			t.Errorf("%s: %d held, %+v; want %d, %+v", test.name, held, next, test.held, test.next)
		}
	}
	for row, want := range map[*ledger.Row]bool{&free: true, &lapsed: true, &finished: false, {Allocated: true, LivesFor: 1}: false} {
		if row.Free() != want {
			t.Errorf("%+v free: %v", *row, !want)
		}
	}
}

// A timer may fire a moment early: within 2 s of the next boundary, or a tenth of the resolution where that is less, the
// next slot is meant.
func TestAMomentBeforeTheBoundaryTheNextSlotIsMeant(t *testing.T) {
	for _, test := range []struct {
		resolution time.Duration
		now, slot  string
	}{
		{15 * time.Minute, "13:15", "13:15"},
		{15 * time.Minute, "13:15:00.000001", "13:15"},
		{15 * time.Minute, "13:20", "13:15"},
		{15 * time.Minute, "13:29:57.999999", "13:15"},
		{15 * time.Minute, "13:29:58", "13:30"},
		{15 * time.Minute, "13:29:59.999999", "13:30"},
		{24 * time.Hour, "23:59:57.999999", "00:00"},
		{time.Minute, "13:15:57.999999", "13:15"},
		{time.Minute, "13:15:58", "13:16"},
		{10 * time.Second, "13:15:08.999999", "13:15"},
		{10 * time.Second, "13:15:09", "13:15:10"},
		{time.Second, "13:15:00.899999", "13:15"},
		{time.Second, "13:15:00.9", "13:15:01"},
		{20 * time.Second, "13:15:17.999999", "13:15"},
		{20 * time.Second, "13:15:18", "13:15:20"},
	} {
		if got := slotNow(rig.GridOf(t, test.resolution), rig.At(test.now)); !got.Equal(rig.At(test.slot)) {
			t.Errorf("%s slots, at %s: %s is meant; want %s", test.resolution, test.now, got, test.slot)
		}
	}
	if got := slotNow(rig.GridOf(t, 24*time.Hour), rig.At("23:59:59")); !got.Equal(rig.Day.Add(24 * time.Hour)) {
		t.Errorf("a second before midnight %s is meant", got)
	}
}
