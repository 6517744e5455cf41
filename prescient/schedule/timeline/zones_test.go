package timeline_test

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"
	"time"

	"prescient/prescient/schedule/timeline"
)

// change says that clocks are put to an offset from UTC, in seconds.
type change struct {
	at     time.Time
	offset int
}

// madeZone is a zone by rules of its own, as a machine with another time zone database has it.
func madeZone(t testing.TB, offset int, changes ...change) *time.Location {
	t.Helper()
	data := append([]byte("TZif"), make([]byte, 16)...)
	for _, n := range []int{0, 0, 0, len(changes), len(changes) + 1, 4} {
		data = binary.BigEndian.AppendUint32(data, uint32(n))
	}
	for _, c := range changes {
		data = binary.BigEndian.AppendUint32(data, uint32(int32(c.at.Unix())))
	}
	for i := range changes {
		data = append(data, byte(i+1))
	}
	for _, c := range append([]change{{offset: offset}}, changes...) {
		data = append(binary.BigEndian.AppendUint32(data, uint32(int32(c.offset))), 0, 0)
	}
	zone, err := time.LoadLocationFromTZData("Made/Up", append(data, "MUT\x00"...))
	if err != nil {
		t.Fatal(err)
	}
	return zone
}

// parseBy reads crontabs by a zone that is not of this machine.
func parseBy(t testing.TB, zone *time.Location, crontabs ...string) *timeline.Timeline {
	t.Helper()
	l, err := timeline.ParseStored(crontabs, "Made/Up", instant(t, "2026-01-01T00:00:00Z"), func(string) (*time.Location, error) { return zone, nil })
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// Two machines, of which only one knows that the clocks of a zone were put ahead on 1 June, take turns. The occurrences are those of
// whoever computed each: old or new.
func TestWhereZonesDifferEachLocalTimeFiresOnce(t *testing.T) {
	old := madeZone(t, 3600)
	put := func(offset int) *time.Location {
		return madeZone(t, 3600, change{instant(t, "2026-06-01T00:00:00Z"), offset})
	}
	for _, test := range []struct {
		name     string
		crontabs []string
		zone     *time.Location // of the new machine
		from     string
		turns    string // o or n for each occurrence
		want     string // when each fires, in UTC
	}{
		{"daily, new after old", []string{"0 8 * * *"}, put(7200), "2026-06-02T00:00:00Z", "onnn", "02T07:00 03T06:00 04T06:00 05T06:00"},
		{"daily, old after new", []string{"0 8 * * *"}, put(7200), "2026-06-02T00:00:00Z", "nooo", "02T06:00 03T07:00 04T07:00 05T07:00"},
		{"daily, in turn", []string{"0 8 * * *"}, put(7200), "2026-06-02T00:00:00Z", "onono", "02T07:00 03T06:00 04T07:00 05T06:00 06T07:00"},
		{"daily, put back, in turn", []string{"0 8 * * *"}, put(0), "2026-06-02T00:00:00Z", "onono", "02T07:00 03T08:00 04T07:00 05T08:00 06T07:00"},
		{"the new zone has jumped over the time since", []string{"0 8,9 * * *"}, put(7200), "2026-06-02T00:00:00Z", "onoo", "02T07:00 02T07:00:01 03T07:00 03T08:00"},
		{"a gap that only one knows", []string{"30 1 * * *"}, put(7200), "2026-05-31T00:00:00Z", "onon", "31T00:30 01T00:00 02T00:30 02T23:30"},
		{"a gap that the other one knows", []string{"30 1 * * *"}, put(7200), "2026-05-31T00:00:00Z", "nooo", "31T00:30 01T00:30 02T00:30 03T00:30"},
		{"an hour twice that only one knows", []string{"30 0 * * *"}, put(0), "2026-05-31T00:00:00Z", "onoo", "31T23:30 02T00:30 02T23:30 03T23:30"},
		{"hourly, by instants", []string{"30 * * * *"}, put(7200), "2026-05-31T22:00:00Z", "onono", "31T22:30 31T23:30 01T00:30 01T01:30 01T02:30"},
		{"hourly and daily", []string{"30 * * * *", "0 8 * * *"}, put(7200), "2026-06-01T05:00:00Z", "nnoonon", "01T05:30 01T06:00 01T06:30 01T07:30 01T08:30 01T09:30 01T10:30"},
		{"hourly and daily, the old one first", []string{"30 * * * *", "0 8 * * *"}, put(7200), "2026-06-01T05:00:00Z", "oonnon", "01T05:30 01T06:30 01T06:30:01 01T07:30 01T08:30 01T09:30"},
		{"a day left out that only one knows", []string{"0 8 * * *"}, put(3600 + 24*3600), "2026-06-02T00:00:00Z", "onnn", "02T07:00 02T07:00:01 03T07:00 04T07:00"},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines := map[rune]*timeline.Timeline{'o': parseBy(t, old, test.crontabs...), 'n': parseBy(t, test.zone, test.crontabs...)}
			var walk *timeline.Walk
			due, got := instant(t, test.from), ""
			for i, turn := range test.turns {
				if i == 0 {
					walk = lines[turn].Walk(due)
				} else if ahead, kept := walk.Ahead(); kept {
					walk = lines[turn].WalkFrom(due, ahead)
				} else {
					walk = lines[turn].Walk(due)
				}
				due, _ = walk.Next(due)
				if got += due.Format(" 02T15:04"); due.Second() > 0 {
					got += due.Format(":05")
				}
			}
			if got[1:] != test.want {
				t.Errorf("fires at %s; want %s", got[1:], test.want)
			}
		})
	}
}

// Where a walk begins at an occurrence by the same rules, it goes on as one that never stopped.
func TestAWalkGoesOnFromAnOccurrence(t *testing.T) {
	for _, zone := range []string{"Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "UTC"} {
		line := parse(t, zone, "30 2 * * *", "0 3 * * *", "15 * * * *", "@every 7h")
		at := instant(t, "2011-12-20T00:00:00Z")
		for range 3_000 {
			next, _ := line.Next(at)
			walk := line.Walk(at)
			if walked, ok := walk.Next(at); !ok || !walked.Equal(next) {
				t.Fatalf("%s: after %s comes %s; a walk goes to %s", zone, at, next, walked)
			}
			ahead, _ := walk.Ahead()
			then, _ := line.Next(next)
			if walked, ok := line.WalkFrom(next, ahead).Next(next); !ok || !walked.Equal(then) {
				t.Fatalf("%s: after %s, %s ahead, comes %s; a walk goes to %s", zone, next, ahead, then, walked)
			}
			at = next
		}
	}
	if _, kept := parse(t, "Europe/Berlin", "15 * * * *", "@every 7h").Walk(time.Now()).Ahead(); kept {
		t.Error("what goes by instants keeps how far local time has come")
	}
}

// Whatever two machines take the rules of a zone for, and whoever's turn it is: each local time fires once, not before the clock of whoever
// computes it shows it, nor later than it does, unless it has shown it by then.
func FuzzZonesThatDiffer(f *testing.F) {
	for seed := range uint64(12) {
		f.Add(seed, uint8(seed))
	}
	crontabs := [][]string{{"0 8 * * *"}, {"30 2 * * *"}, {"45 23 * * *", "0 0 * * *"}, {"0 1-23 * * *"}, {"0 8 * * *", "30 * * * *"}, {"30 1,2 * * *", "*/20 * * * *"}}
	f.Fuzz(func(t *testing.T, seed uint64, which uint8) {
		random := rand.New(rand.NewPCG(seed, 1))
		begin := instant(t, "2026-01-01T00:00:00Z")
		offset := (random.IntN(48) - 24) * 1800
		zones := make([]*time.Location, 2)
		for i := range zones {
			var changes []change
			now := offset
			for at := begin; ; {
				if at = at.Add(time.Duration(1+random.IntN(90*96)) * 15 * time.Minute); at.After(begin.AddDate(1, 0, 0)) {
					break
				}
				now = max(-12*3600, min(14*3600, now+(random.IntN(13)-6)*1800))
				changes = append(changes, change{at, now})
			}
			zones[i] = madeZone(t, offset, changes...)
		}
		of := crontabs[int(which)%len(crontabs)]
		lines := []*timeline.Timeline{parseBy(t, zones[0], of...), parseBy(t, zones[1], of...)}
		// In a zone that never changes the occurrences of fixed times are the local times that are due.
		var fixed []string
		for _, crontab := range of {
			if _, kept := parseBy(t, time.UTC, crontab).Walk(begin).Ahead(); kept {
				fixed = append(fixed, crontab)
			}
		}
		wanted := parseBy(t, time.UTC, fixed...)
		shows := func(turn int, at time.Time) time.Time {
			_, offset := at.In(zones[turn]).Zone()
			return at.Add(time.Duration(offset) * time.Second)
		}
		due := begin
		ahead := time.Duration(offset) * time.Second
		for due.Before(begin.AddDate(1, 1, 0)) {
			turn := random.IntN(2)
			walk := lines[turn].WalkFrom(due, ahead)
			next, ok := walk.Next(due)
			if !ok || !next.After(due) {
				t.Fatalf("after %s comes %s", due, next)
			}
			now, _ := walk.Ahead()
			shown := next.Add(now)
			if shown.Before(due.Add(ahead)) {
				t.Fatalf("local time goes back from %s to %s", due.Add(ahead), shown)
			}
			first, _ := wanted.Next(due.Add(ahead)) // the local time that is to fire first
			fires := !first.After(shown)
			switch {
			case fires && shows(turn, next).Before(first):
				t.Fatalf("%s fires at %s, when the clock shows %s", first, next, shows(turn, next))
			case fires && !next.Equal(due.Add(time.Second)) && !shows(turn, next.Add(-time.Second)).Before(first):
				t.Fatalf("%s fires at %s; the clock has shown that before", first, next)
			case !fires && len(fixed) == len(of):
				t.Fatalf("%s fires, and nothing is due up to %s", next, shown)
			}
			due, ahead = next, now
		}
	})
}
