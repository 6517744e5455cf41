package orders

import (
	"testing"
	"time"
)

func TestDecide(t *testing.T) {
	at := func(clock string) time.Time {
		t, err := time.Parse("2006-01-02 15:04:05.999999", "2026-11-20 "+clock)
		if err != nil {
			panic(err)
		}
		return t
	}
	slotOf := func(clock string) *time.Time {
		if clock == "" {
			return nil
		}
		t := at(clock)
		return &t
	}
	options := Options{PrimaryAfter: 3 * time.Hour, EscalateAfter: 6 * time.Hour}
	placed := at("10:05:00") // alert at 13:05, escalate at 16:05
	for _, test := range []struct {
		about              string
		shipped            bool
		primary, escalated string // slots of the alerts that there are
		slot               string
		raise              Level
		next               string
	}{
		// as it should be
		{"first check", false, "", "", "13:15:00", Primary, "16:05:00"},
		{"second check", false, "13:15:00", "", "16:15:00", Escalated, ""},
		{"shipped before the first", true, "", "", "13:15:00", "", ""},
		{"shipped before the second", true, "13:15:00", "", "16:15:00", "", ""},

		// called again for the same slot
		{"first check again", false, "13:15:00", "", "13:15:00", "", "16:05:00"},
		{"second check again", false, "13:15:00", "16:15:00", "16:15:00", "", ""},
		{"shipped after the first call", true, "13:15:00", "", "13:15:00", "", ""},

		// an error after the alert: the check comes again at the next slot
		{"first check retried", false, "13:15:00", "", "13:30:00", "", "16:05:00"},
		{"second check retried", false, "13:15:00", "16:15:00", "16:30:00", "", ""},
		{"first check retried until it is time", false, "13:15:00", "", "16:15:00", Escalated, ""},

		// after an outage
		{"first check late", false, "", "", "14:30:00", Primary, "16:05:00"},
		{"first check after the time to escalate", false, "", "", "18:30:00", Primary, "18:30:00.000001"},
		{"the same again", false, "18:30:00", "", "18:30:00", "", "18:30:00.000001"},
		{"and the slot after that", false, "18:30:00", "", "18:45:00", Escalated, ""},
		{"second check late", false, "13:15:00", "", "23:00:00", Escalated, ""},

		// on the dot
		{"slot is the time to alert", false, "", "", "13:05:00", Primary, "16:05:00"},
		{"slot is a microsecond before it", false, "", "", "13:04:59.999999", "", "13:05:00"},
		{"slot is the time to escalate, first check", false, "", "", "16:05:00", Primary, "16:05:00.000001"},
		{"slot is the time to escalate, second check", false, "13:15:00", "", "16:05:00", Escalated, ""},
		{"slot is a microsecond before that", false, "13:15:00", "", "16:04:59.999999", "", "16:05:00"},

		// somebody moved the check
		{"first check too early", false, "", "", "11:00:00", "", "13:05:00"},
		{"second check too early", false, "13:15:00", "", "14:00:00", "", "16:05:00"},
		{"before the slot of its own alert", false, "18:30:00", "", "18:00:00", "", "18:00:00.000001"},
	} {
		raise, next := options.decide(situation{
			PlacedAt: placed, Shipped: test.shipped, Primary: slotOf(test.primary), Escalated: slotOf(test.escalated),
		}, at(test.slot))
		var got string
		if next != nil {
			got = next.Format("15:04:05.999999")
		}
		if raise != test.raise || got != test.next {
			t.Errorf("%s: raise %q, next %q; want %q, %q", test.about, raise, got, test.raise, test.next)
		}
		if next != nil && !next.After(at(test.slot)) {
			t.Errorf("%s: %s is not after the slot: the check would end as past_return", test.about, got)
		}
	}
}
