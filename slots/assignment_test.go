package slots_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/slots"
)

func TestMinutesSelectTheSlotsInThem(t *testing.T) {
	for _, c := range []struct {
		resolution time.Duration
		text, want string
	}{
		// numbers and lists
		{15 * time.Minute, "0", "minutes 0"},
		{15 * time.Minute, "0,30", "minutes 0,30"},
		{15 * time.Minute, "45,15,45", "minutes 15,45"},
		{15 * time.Minute, " \t00,030 ", "minutes 0,30"},
		{time.Minute, "7", "minutes 7"},
		// everything is every slot, however it is written
		{15 * time.Minute, "*", "every slot"},
		{15 * time.Minute, "*/1", "every slot"},
		{15 * time.Minute, "*/5", "every slot"},
		{15 * time.Minute, "0,15,30,45", "every slot"},
		{time.Minute, "0-59", "every slot"},
		{time.Hour, "0", "every slot"},
		// steps and ranges take what they meet
		{15 * time.Minute, "*/2", "minutes 0,30"},
		{15 * time.Minute, "*/30", "minutes 0,30"},
		{15 * time.Minute, "10-50", "minutes 15,30,45"},
		{15 * time.Minute, "10-50/20", "minutes 30"},
		{10 * time.Minute, "10-50/20", "minutes 10,30,50"},
		{5 * time.Minute, "5/15", "minutes 5,20,35,50"},
		{15 * time.Minute, "7-16,45", "minutes 15,45"},
		// under a minute, a minute is all the slots in it
		{20 * time.Second, "7", "minutes 7"},
		{20 * time.Second, "*", "every slot"},
		// slots off the minute count for the minute in which they begin
		{90 * time.Second, "1", "minutes 1"},
		{90 * time.Second, "0-2", "minutes 0,1"},
	} {
		a, err := slots.ParseMinutes(grid(t, c.resolution), c.text)
		if err != nil || a.String() != c.want {
			t.Errorf("%q at %s: %s, %v, want %s", c.text, c.resolution, a, err, c.want)
		}
	}
}

func TestRefusedMinutesSayWhatIsAllowed(t *testing.T) {
	for _, c := range []struct {
		resolution time.Duration
		text, says string
	}{
		// a number must carry a slot
		{15 * time.Minute, "7", "no slot begins in minute 7 at a resolution of 15m0s; allowed are 0, 15, 30, 45"},
		{15 * time.Minute, "0,20", "no slot begins in minute 20 at a resolution of 15m0s; allowed are 0, 15, 30, 45"},
		{15 * time.Minute, "7,*", "no slot begins in minute 7 "},
		{90 * time.Second, "2", "no slot begins in minute 2 at a resolution of 1m30s; allowed are 0, 1, 3, 4, 6"},
		{time.Hour, "30", "no slot begins in minute 30 at a resolution of 1h0m0s; allowed are 0"},
		// a range or a step must meet one
		{15 * time.Minute, "5/15", "5/15 meets no slot at a resolution of 15m0s; slots begin in the minutes 0, 15, 30, 45"},
		{15 * time.Minute, "0,1-14", "1-14 meets no slot"},
		{20 * time.Minute, "10-50/20", "10-50/20 meets no slot"},
		// the minutes of an hour need a resolution that divides it
		{90 * time.Minute, "0", "a resolution of 1h30m0s, which does not divide an hour; allowed there are shares"},
		{24 * time.Hour, "*", "which does not divide an hour"},
		{32 * time.Second, "*", "which does not divide an hour"},
		// what cron does not take
		{time.Minute, "60", "above maximum (59)"},
		{time.Minute, "50-10", "beyond end of range"},
		{time.Minute, "*/0", "positive number"},
		{time.Minute, "-5", "allowed are *, numbers 0 to 59"},
		{time.Minute, "1-", "allowed are *, numbers 0 to 59"},
		{time.Minute, "1/", "allowed are *, numbers 0 to 59"},
		{time.Minute, "1-2-3", "too many hyphens"},
		{time.Minute, "*/2/3", "too many slashes"},
		{time.Minute, "99999999999999999999", "allowed are *, numbers 0 to 59"},
		// what cron takes and nobody means
		{time.Minute, "", "a part of the list is empty"},
		{time.Minute, "0,,30", "a part of the list is empty"},
		{time.Minute, "0,", "a part of the list is empty"},
		{time.Minute, "0 30", `"0 30" is not made of digits`},
		{time.Minute, "0, 30", `" 30" is not made of digits`},
		{time.Minute, "?", `"?" is not made of digits`},
		{time.Minute, "TZ=", `"TZ=" is not made of digits`},
		{time.Minute, "CRON_TZ=UTC 5", "is not made of digits"},
		{time.Minute, "@hourly", "is not made of digits"},
		{time.Minute, "+5", "is not made of digits"},
		{time.Minute, "٣", "is not made of digits"},
		{time.Minute, "\n5", "is not made of digits"},
		{time.Minute, "*-5", "mixes * with something else"},
		{time.Minute, "**", "mixes * with something else"},
		{time.Minute, "*/90", "a step longer than the hour"},
		{time.Minute, "0/60", "a step longer than the hour"},
	} {
		a, err := slots.ParseMinutes(grid(t, c.resolution), c.text)
		if !errors.Is(err, slots.ErrAssignment) || a != (slots.Assignment{}) {
			t.Errorf("%q at %s: %s, %v", c.text, c.resolution, a, err)
			continue
		}
		for _, says := range []string{c.says, fmt.Sprintf("%q", c.text)} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%q at %s: %v, want it to say %q", c.text, c.resolution, err, says)
			}
		}
	}
}

func TestShareIsCountedFromTheEpoch(t *testing.T) {
	for _, c := range []struct {
		resolution time.Duration
		text, want string
		slot       string
		serves     bool
	}{
		{15 * time.Minute, "1/2", "share 1/2", "1970-01-01 00:00:00", true},
		{15 * time.Minute, "2/2", "share 2/2", "1970-01-01 00:00:00", false},
		{15 * time.Minute, " 02/2\t", "share 2/2", "1970-01-01 00:15:00", true},
		{15 * time.Minute, "2/2", "share 2/2", "1969-12-31 23:45:00", true},
		{15 * time.Minute, "3/3", "share 3/3", "1969-12-31 23:45:00", true},
		{24 * time.Hour, "1/2", "share 1/2", "1970-01-03 00:00:00", true},
		{24 * time.Hour, "1/2", "share 1/2", "1970-01-02 00:00:00", false},
		{90 * time.Minute, "1/1", "every slot", "1970-01-01 01:30:00", true},
		{time.Second, "10000/10000", "share 10000/10000", "1970-01-01 02:46:39", true},
	} {
		a := share(t, grid(t, c.resolution), c.text)
		if a.String() != c.want || a.Serves(at(t, c.slot)) != c.serves {
			t.Errorf("%q at %s: %s, serves %s: %t", c.text, c.resolution, a, c.slot, a.Serves(at(t, c.slot)))
		}
	}
}

func TestRefusedSharesSayWhatIsAllowed(t *testing.T) {
	g := grid(t, 15*time.Minute)
	for _, text := range []string{
		"0/2", "3/2", "1/0", "0/0", "1/10001", "10001/10001", "", "/", "1", "1/", "/2", "1/2/3", "-1/2", "+1/2", "1 / 2",
		"1/2x", "a/b", "0.5", "½", "*/2", "1,2/2", "99999999999999999999/99999999999999999999",
	} {
		a, err := slots.ParseShare(g, text)
		if !errors.Is(err, slots.ErrAssignment) || a != (slots.Assignment{}) {
			t.Errorf("%q: %s, %v", text, a, err)
			continue
		}
		for _, says := range []string{fmt.Sprintf("%q", text), "allowed are k/n with n from 1 to 10000 and k from 1 to n"} {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%q: %v, want it to say %q", text, err, says)
			}
		}
	}
}

func TestServesOnlySlotsOfTheGrid(t *testing.T) {
	g := grid(t, 15*time.Minute)
	for _, a := range []slots.Assignment{slots.All(g), minutes(t, g, "0,30"), share(t, g, "1/2")} {
		for moment, want := range map[string]bool{
			"2026-03-01 13:00:00":           true,
			"2026-03-01 13:00:00.000000001": false,
			"2026-03-01 13:00:01":           false,
			"2026-03-01 13:30:00":           true,
		} {
			if got := a.Serves(at(t, moment)); got != want {
				t.Errorf("%s serves %s: %t", a, moment, got)
			}
		}
	}
}

func TestMinuteUnderAMinuteServesAllItsSlots(t *testing.T) {
	a := minutes(t, grid(t, 20*time.Second), "7")
	for moment, want := range map[string]bool{
		"2026-03-01 13:06:40": false,
		"2026-03-01 13:07:00": true,
		"2026-03-01 13:07:20": true,
		"2026-03-01 13:07:40": true,
		"2026-03-01 13:08:00": false,
	} {
		if got := a.Serves(at(t, moment)); got != want {
			t.Errorf("serves %s: %t", moment, got)
		}
	}
}

func TestNextIsTheFirstServedSlotAfter(t *testing.T) {
	quarter := grid(t, 15*time.Minute)
	for _, c := range []struct {
		assignment   slots.Assignment
		moment, want string
	}{
		{slots.All(quarter), "2026-03-01 13:05:00", "2026-03-01 13:15:00"},
		{slots.All(quarter), "2026-03-01 13:15:00", "2026-03-01 13:30:00"},
		// minutes, and their wrap around the hour and the day
		{minutes(t, quarter, "15,45"), "2026-03-01 13:15:00", "2026-03-01 13:45:00"},
		{minutes(t, quarter, "15,45"), "2026-03-01 13:14:59.999999999", "2026-03-01 13:15:00"},
		{minutes(t, quarter, "15,45"), "2026-03-01 13:46:00", "2026-03-01 14:15:00"},
		{minutes(t, quarter, "0"), "2026-03-01 23:00:00", "2026-03-02 00:00:00"},
		{minutes(t, quarter, "15"), "1969-12-31 23:20:00", "1970-01-01 00:15:00"},
		{minutes(t, grid(t, 20*time.Second), "59"), "2026-03-01 13:59:20", "2026-03-01 13:59:40"},
		{minutes(t, grid(t, 20*time.Second), "59"), "2026-03-01 13:59:40", "2026-03-01 14:59:00"},
		{minutes(t, grid(t, 90*time.Second), "1"), "2026-03-01 13:00:00", "2026-03-01 13:01:30"},
		// shares
		{share(t, quarter, "1/2"), "2026-03-01 13:00:00", "2026-03-01 13:30:00"},
		{share(t, quarter, "2/2"), "2026-03-01 13:00:00", "2026-03-01 13:15:00"},
		{share(t, grid(t, 24*time.Hour), "1/2"), "1970-01-01 00:00:00", "1970-01-03 00:00:00"},
		{share(t, grid(t, 24*time.Hour), "1/2"), "1969-12-29 00:00:00", "1969-12-30 00:00:00"},
	} {
		if got := c.assignment.Next(at(t, c.moment)); got != at(t, c.want) {
			t.Errorf("%s after %s is %s, want %s", c.assignment, c.moment, got, c.want)
		}
	}
}

func TestNextAgreesWithTryingSlotAfterSlot(t *testing.T) {
	texts := []string{"*/2", "0-29", "15-50/5", "0", "30-59,*/20"}
	shares := []string{"1/1", "1/2", "2/2", "5/7", "24/24"}
	all := resolutions()
	for i, moment := range randomMoments(1000) {
		g := grid(t, all[i%len(all)])
		candidates := []slots.Assignment{slots.All(g), share(t, g, shares[i%len(shares)])}
		if a, err := slots.ParseMinutes(g, texts[i%len(texts)]); err == nil {
			candidates = append(candidates, a)
		}
		for _, a := range candidates {
			want := slowCeil(g.Resolution(), moment.Add(1))
			for !a.Serves(want) {
				want = want.Add(g.Resolution())
			}
			if got := a.Next(moment); got != want {
				t.Fatalf("%s at %s after %s is %s, want %s", a, g, moment, got, want)
			}
		}
	}
}

func TestSharesOfOneNumberPartitionTheGrid(t *testing.T) {
	g := grid(t, 90*time.Minute)
	parts := []slots.Assignment{share(t, g, "1/3"), share(t, g, "2/3"), share(t, g, "3/3")}
	for slot := range g.Between(at(t, "1969-12-25 00:00:00"), at(t, "1970-01-05 00:00:00")) {
		serving := 0
		for _, a := range parts {
			if a.Serves(slot) {
				serving++
			}
		}
		if serving != 1 {
			t.Errorf("%s is served by %d", slot, serving)
		}
	}
}

func TestEqualChoicesAreEqualValues(t *testing.T) {
	g := grid(t, 15*time.Minute)
	for _, c := range []struct{ a, b slots.Assignment }{
		{minutes(t, g, "0,30"), minutes(t, g, "*/2")},
		{minutes(t, g, "*"), slots.All(g)},
		{share(t, g, "1/1"), slots.All(g)},
	} {
		if c.a != c.b || c.a.Grid() != g {
			t.Errorf("%s and %s differ", c.a, c.b)
		}
	}
}

func TestZeroAssignmentServesNothing(t *testing.T) {
	var zero slots.Assignment
	epoch := time.Unix(0, 0)
	if zero.Serves(epoch) || !zero.Next(epoch).IsZero() || zero.String() != "no slot" || !zero.Grid().IsZero() {
		t.Errorf("serves %t, next %s, text %q, grid %s", zero.Serves(epoch), zero.Next(epoch), zero, zero.Grid())
	}
}

func TestZeroGridMakesNoAssignment(t *testing.T) {
	var none slots.Grid
	if a := slots.All(none); a != (slots.Assignment{}) {
		t.Errorf("All: %s", a)
	}
	if a, err := slots.ParseMinutes(none, "0"); !errors.Is(err, slots.ErrResolution) || a != (slots.Assignment{}) {
		t.Errorf("ParseMinutes: %s, %v", a, err)
	}
	if a, err := slots.ParseShare(none, "1/2"); !errors.Is(err, slots.ErrResolution) || a != (slots.Assignment{}) {
		t.Errorf("ParseShare: %s, %v", a, err)
	}
}
