package rollup

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func TestAnHourIsComparedUntilADayIsOver(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]string{65 * time.Minute: "14:00", 2 * time.Hour: "19:00", 7 * time.Hour: "13:00", 24 * time.Hour: "13:00", 25 * time.Hour: "never", 1000 * time.Hour: "never"} {
		got := "never"
		if at := nextLook(noon, noon.Add(after)); at != nil {
			got = at.Format("15:04")
		}
		if got != want {
			t.Errorf("%s after its begin an hour is compared next at %s; want %s", after, got, want)
		}
	}
	if isOver(noon, noon.Add(65*time.Minute-1)) || !isOver(noon, noon.Add(65*time.Minute)) {
		t.Error("an hour is not summed 5 minutes after its end")
	}
}

func TestHoursFollowAndYearsWithoutEndsAreLeftOut(t *testing.T) {
	t.Parallel()
	at := func(hours int) time.Time { return noon.Add(time.Duration(hours) * time.Hour) }
	var none time.Time
	for about, tt := range map[string]struct{ latest, first, want time.Time }{
		"nothing was summed, nothing ended":       {none, none, at(-25)},
		"nothing was summed":                      {none, at(-1000).Add(time.Minute), at(-1000)},
		"nothing was summed, it began lately":     {none, at(-3).Add(time.Minute), at(-25)},
		"the next hour has ends":                  {at(-100), at(-99), at(-99)},
		"some hours have none":                    {at(-100), at(-90).Add(time.Second), at(-90)},
		"years have none":                         {at(-100000), none, at(-25)},
		"a recent hour without":                   {at(-5), none, at(-4)},
		"a recent hour without, before one with":  {at(-5), at(-2), at(-4)},
		"the hour that is now":                    {at(-1), none, at(0)},
		"the clock was put back behind the hours": {at(0), none, at(1)},
	} {
		if got := following(tt.latest, tt.first, noon); !got.Equal(tt.want) {
			t.Errorf("%s: %s; want %s", about, got, tt.want)
		}
	}
}

func TestADayIsMadeOnceItsHoursAre(t *testing.T) {
	t.Parallel()
	midnight := noon.Add(-12 * time.Hour)
	for about, tt := range map[string]struct {
		s    state
		want task
	}{
		"a look comes first":       {state{look: noon, undayed: midnight, latest: noon.Add(48 * time.Hour)}, task{toLook, noon}},
		"the day is over":          {state{undayed: noon, latest: midnight.Add(23 * time.Hour)}, task{toMakeDay, midnight}},
		"its last hour is lacking": {state{undayed: noon, latest: midnight.Add(22 * time.Hour)}, task{}},
		"all are in their days":    {state{latest: noon}, task{}},
	} {
		if got := tt.s.due(); got != tt.want {
			t.Errorf("%s: %v; want %v", about, got, tt.want)
		}
	}
}

func TestOfAnOldDayAllHoursAreSummedAgain(t *testing.T) {
	t.Parallel()
	old := noon.Add(-HoursKept - 48*time.Hour)
	got := Again([]time.Time{old, old.Add(time.Hour), noon.Add(-48 * time.Hour)}, noon)
	if len(got) != 25 || !got[0].Equal(dayOf(old)) || !got[23].Equal(dayOf(old).Add(23*time.Hour)) || !got[24].Equal(noon.Add(-48*time.Hour)) {
		t.Errorf("%v", got)
	}
	if got := Again([]time.Time{noon}, noon); fmt.Sprint(got) != fmt.Sprint([]time.Time{noon}) || !slices.IsSortedFunc(got, time.Time.Compare) {
		t.Errorf("%v", got)
	}
}
