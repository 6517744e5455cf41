package timeline_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	cron "github.com/netresearch/go-cron"

	"prescient/prescient/schedule/timeline"
)

// fields reads a crontab with the library alone. Its Next is right where clocks are never changed: a local time is held as
// the time in UTC that reads the same.
func fields(t *testing.T, crontab string) (s *cron.SpecSchedule, hourly bool) {
	t.Helper()
	parser := cron.MustNewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Extended | cron.DowOrDom).WithMaxSearchYears(9)
	read, err := parser.Parse(strings.ToLower(crontab))
	if err != nil {
		t.Fatalf("%s: %v", crontab, err)
	}
	s = read.(*cron.SpecSchedule)
	s.Location = time.UTC
	return s, s.Hour&(1<<24-1) == 1<<24-1
}

// shown is what a clock in a zone shows at a time.
func shown(at time.Time, zone *time.Location) time.Time {
	_, offset := at.In(zone).Zone()
	return at.Add(time.Duration(offset) * time.Second).UTC()
}

// watched is what somebody notes who looks at a local clock at every step from a time to another, and knows all that it has
// shown in the day before.
func watched(t *testing.T, crontab string, zone *time.Location, from, to time.Time, step time.Duration) (list []time.Time) {
	t.Helper()
	spec, hourly := fields(t, crontab)
	var latest time.Time
	var due time.Time // the first match after the latest
	for at := from.Add(-24 * time.Hour); !at.After(to); at = at.Add(step) {
		now := shown(at, zone)
		fires := hourly && spec.Second>>now.Second()&1 != 0 && spec.Minute>>now.Minute()&1 != 0 && spec.Next(now.Add(-time.Second)).Equal(now)
		if now.After(latest) {
			if due.IsZero() {
				due = now.Add(time.Second) // the beginning does not count
			}
			if !due.After(now) {
				fires = fires || !hourly
				due = spec.Next(now)
			}
			latest = now
		}
		if fires && at.After(from) {
			list = append(list, at)
		}
	}
	return list
}

// changesOf is when the clocks of a zone are changed between two years.
func changesOf(zone *time.Location, from, to int) (list []time.Time) {
	for at := time.Date(from, 1, 1, 0, 0, 0, 0, time.UTC).In(zone); ; {
		_, end := at.ZoneBounds()
		if end.IsZero() || end.Year() >= to {
			return list
		}
		list = append(list, end.UTC())
		at = end
	}
}

// around compares the occurrences about a change of clocks with what is watched.
func around(t *testing.T, crontab string, zone *time.Location, change time.Time, step time.Duration) int {
	t.Helper()
	from, to := change.Add(-30*time.Hour), change.Add(30*time.Hour)
	want := watched(t, crontab, zone, from, to, step)
	l := parse(t, zone.String(), crontab)
	var got []time.Time
	for at := range l.After(from) {
		if at.After(to) {
			break
		}
		got = append(got, at)
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%q in %s, about %s:\n%s\nwant\n%s", crontab, zone, change, got, want)
	}
	for at := from; at.Before(to); at = at.Add(17 * time.Minute) { // asked at any time, also where nothing fires
		next, ok := l.Next(at)
		i := slices.IndexFunc(want, func(w time.Time) bool { return w.After(at) })
		if i >= 0 && (!ok || !next.Equal(want[i])) || i < 0 && ok && !next.After(to) {
			t.Errorf("%q in %s: %s comes after %s", crontab, zone, next, at)
		}
	}
	return len(want)
}

// randomCrontab is likely to fire on a night.
func randomCrontab(random *rand.Rand, change time.Time) string {
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	number := func(n int) string { return fmt.Sprint(random.IntN(n)) }
	minute := pick("0", "30", "*/5", "*/20", "59", number(60), number(60)+","+number(60), "10-50/7")
	hour := pick("*", "*", "0-23", "0", "1", "2", "3", "23", "1-3", "22-3", "*/2", number(24), number(24)+","+number(24))
	date, weekday := "*", "*"
	switch random.IntN(5) {
	case 0:
		date = pick(fmt.Sprint(change.Day()), fmt.Sprint(change.Day()%28+1), "L", "LW", "15W", "L-1", "*/2")
	case 1:
		weekday = pick("sun", "sat-mon", "sun#1", "sun#L", "6", "mon-fri", "7")
	case 2:
		date, weekday = fmt.Sprint(change.Day()), "sun"
	}
	return strings.Join([]string{minute, hour, date, pick("*", "*", "*/2", fmt.Sprint(int(change.Month()))), weekday}, " ")
}

var watchedZones = []string{"Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Santiago", "Asia/Beirut", "Africa/Cairo", "Africa/Casablanca",
	"Pacific/Apia", "Europe/Dublin", "Asia/Tehran", "America/Sao_Paulo", "Antarctica/Troll", "Asia/Gaza", "Pacific/Chatham", "America/Caracas"}

// Whole minutes are enough since 1973.
func TestOccurrencesAreThoseThatAClockShows(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	rounds := 40
	if testing.Short() {
		rounds = 3
	}
	fired := 0
	for _, name := range watchedZones {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Fatal(err)
		}
		changes := changesOf(zone, 1973, 2031)
		if len(changes) < 2 {
			t.Fatalf("%s: %d changes", name, len(changes))
		}
		for range rounds {
			change := changes[random.IntN(len(changes))]
			fired += around(t, randomCrontab(random, change), zone, change, time.Minute)
		}
	}
	if fired < 50*rounds {
		t.Errorf("only %d occurrences", fired)
	}
}

// Before, clocks were put right by seconds (an even number of them, here), and by as much as a day.
func TestOccurrencesAreThoseThatAnOldClockShows(t *testing.T) {
	for _, test := range []struct{ zone, change string }{
		{"Europe/Berlin", "1893-03-31T23:06:32Z"}, {"Africa/Monrovia", "1972-01-07T00:44:30Z"}, {"Pacific/Kwajalein", "1969-09-30T13:00:00Z"},
		{"Pacific/Kwajalein", "1993-08-21T12:00:00Z"}, {"America/Juneau", "1867-10-19T00:31:13Z"}, {"Asia/Kathmandu", "1985-12-31T18:30:00Z"},
	} {
		zone, err := time.LoadLocation(test.zone)
		if err != nil {
			t.Fatal(err)
		}
		change := instant(t, test.change)
		if start, _ := change.In(zone).ZoneBounds(); !start.Equal(change) {
			t.Fatalf("%s: %s begins at %s", test.zone, test.change, start.UTC())
		}
		for _, crontab := range []string{"*/7 * * * *", "30 */3 * * *", "15 0 * * *", "20 5,30 23 * * *", "0 12 18,21,30,31 * *"} {
			around(t, crontab, zone, change, 2*time.Second)
		}
	}
}

// In UTC the library's own walk over the calendar has to come to the same.
func TestDaysAreThoseOfTheLibrary(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	pick := func(list ...string) string { return list[random.IntN(len(list))] }
	for range 2000 {
		number := func(from, to int) string { return fmt.Sprint(from + random.IntN(to-from+1)) }
		crontab := strings.Join([]string{
			pick("0", number(0, 59), "*/7", "*"), pick("0", number(0, 59), "*/13", "*"), pick("0", "*", number(0, 23), "20-4/3"),
			pick("*", "?", number(1, 28), "28-3", "*/3", "L", "L-"+number(1, 27), "LW", number(1, 28)+"W", "1W,L", "31,30W"),
			pick("*", number(1, 12), "2", "nov-feb", "*/5"),
			pick("*", "?", number(0, 7), "fri-mon", "*/2", number(0, 7)+"#"+number(1, 5), "mon#L", "tue,sun#1"),
		}, " ")
		spec, _ := fields(t, crontab)
		l, err := timeline.Parse([]string{crontab}, "", time.Time{})
		at := time.Unix(random.Int64N(200*365*86400)-100*365*86400, random.Int64N(1e9)).UTC()
		if err != nil {
			if want := spec.Next(at); !want.IsZero() {
				t.Errorf("%q: %v; the library says %s", crontab, err, want)
			}
			continue
		}
		for range 10 {
			want, got := spec.Next(at), time.Time{}
			if got, _ = l.Next(at); !want.IsZero() && !got.Equal(want) {
				t.Fatalf("%q: %s comes after %s; want %s", crontab, got, at, want)
			}
			at = got
		}
	}
}
