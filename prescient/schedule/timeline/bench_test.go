package timeline_test

import (
	"testing"
	"time"

	"prescient/prescient/schedule/timeline"
)

var benched = []struct {
	name, zone string
	crontabs   []string
}{
	{"five_minutes", "", []string{"*/5 * * * *"}},
	{"five_minutes_Berlin", "Europe/Berlin", []string{"*/5 * * * *"}},
	{"daily_Berlin", "Europe/Berlin", []string{"30 2 * * *"}},
	{"monthly_Berlin", "Europe/Berlin", []string{"0 9 LW * *"}},
	{"first_Berlin", "Europe/Berlin", []string{"0 9 1 * *"}},
	{"every_90s", "Europe/Berlin", []string{"@every 90s"}},
	{"rarest_Berlin", "Europe/Berlin", []string{"0 0 ? 2 mon#5"}},
	{"rarest_hourly_Berlin", "Europe/Berlin", []string{"0 * ? 2 mon#5"}},
	{"three_Berlin", "Europe/Berlin", []string{"0 9 * * mon-fri", "0 12 * * sat", "0 0 1 * *"}},
}

func BenchmarkParse(b *testing.B) {
	for _, of := range benched {
		b.Run(of.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := timeline.Parse(of.crontabs, of.zone, time.Time{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// Each time is the first occurrence after the one before, so that a zone's changes have their part.
func BenchmarkNext(b *testing.B) {
	for _, of := range benched {
		b.Run(of.name, func(b *testing.B) {
			l := parse(b, of.zone, of.crontabs...)
			from := instant(b, "2026-03-01T00:00:00Z")
			b.ReportAllocs()
			at := from
			for b.Loop() {
				next, ok := l.Next(at)
				if at = next; !ok || at.Year() > 2030 {
					at = from
				}
			}
		})
	}
}

func BenchmarkTooFine(b *testing.B) {
	for _, of := range benched {
		b.Run(of.name, func(b *testing.B) {
			l, slots, from := parse(b, of.zone, of.crontabs...), grid(b, time.Minute), instant(b, "2026-03-01T00:00:00Z")
			b.ReportAllocs()
			for b.Loop() {
				if err := l.TooFine(slots, from, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
