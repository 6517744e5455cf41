package store_test

import (
	"testing"
	"testing/synctest"
	"time"

	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
)

// The database said 13:15 in a zone and at a moment of its own; the machine's clock says something else altogether.
func TestTheClockGoesOnFromWhatTheDatabaseSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		here := time.Now()
		c := store.ClockAt(rig.At("13:15").In(time.FixedZone("", 14*3600)))
		if got := c.Now(); !got.Equal(rig.At("13:15")) || got.Location() != time.UTC {
			t.Errorf("now %s; want 13:15 UTC", got)
		}
		time.Sleep(90 * time.Second)
		if got := c.Now(); !got.Equal(rig.At("13:16:30")) {
			t.Errorf("after 90 s it is %s; want 13:16:30", got)
		}
		for after, want := range map[time.Duration]time.Time{0: rig.At("13:15"), time.Hour: rig.At("14:15"), -time.Minute: rig.At("13:14")} {
			if got := c.When(here.Add(after)); !got.Equal(want) {
				t.Errorf("%s after the look it was %s; want %s", after, got, want)
			}
		}
	})
}

func TestADateThatIsNoneIsReadAsTheDriverDoes(t *testing.T) {
	for text, want := range map[string]string{
		"2026-11-20 12:00:00":        "2026-11-20 12:00:00",
		"2026-11-20 12:00:00.000001": "2026-11-20 12:00:00.000001",
		"0000-00-00 00:00:00.000000": "0001-01-01 00:00:00",
		"2026-00-10 01:02:03.4":      "2026-01-10 01:02:03.4",
		"2026-11-00 00:00:00":        "2026-11-01 00:00:00",
		"2026-02-31 23:59:59":        "2026-03-03 23:59:59",
		"0000-00-01 00:00:00":        "", "2026-11-20": "", "tomorrow": "", "": "", "2026-02-31 25:00:00": "",
	} {
		got, err := store.ParseTime(text)
		if (err != nil) != (want == "") || want != "" && got.Format("2006-01-02 15:04:05.999999") != want {
			t.Errorf("%q is %s, %v; want %q", text, got, err, want)
		}
	}
}

func TestWhatADatetimeMayHoldIsRead(t *testing.T) {
	for text, want := range map[string]time.Time{
		"2026-11-20 10:05:00.000007": time.Date(2026, 11, 20, 10, 5, 0, 7000, time.UTC),
		"2026-11-20 10:05:00":        time.Date(2026, 11, 20, 10, 5, 0, 0, time.UTC),
		"9999-12-31 23:59:59.999999": time.Date(9999, 12, 31, 23, 59, 59, 999999000, time.UTC),
		"0000-00-00 00:00:00.000000": {},
		"2027-00-00 10:05:00.000007": time.Date(2027, 1, 1, 10, 5, 0, 7000, time.UTC),
		"2027-02-31 00:00:00":        time.Date(2027, 3, 3, 0, 0, 0, 0, time.UTC),
	} {
		if got, err := store.ParseTime(text); err != nil || !got.Equal(want) {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "yesterday", "2027-13-01 00:00:00", "2027-01-01 25:00:00", "2027-00-00 x"} {
		if got, err := store.ParseTime(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
	if _, err := store.ParseCalendar("2027-02-31 00:00:00"); err == nil {
		t.Error("the 31st of February is a day")
	}
}
