package timeline_test

import (
	"strings"
	"testing"
	"time"

	"prescient/prescient/schedule/timeline"
)

// instant reads RFC 3339.
func instant(t testing.TB, text string) time.Time {
	t.Helper()
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

// parse reads crontabs that have to be right, anchored at the start of 2026.
func parse(t testing.TB, zone string, crontabs ...string) *timeline.Timeline {
	t.Helper()
	l, err := timeline.Parse(crontabs, zone, instant(t, "2026-01-01T00:00:00Z"))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// wantNext holds the occurrences after a time to those of a list, which is separated by blanks, and wants each to be
// found from everywhere since the one before.
func wantNext(t *testing.T, l *timeline.Timeline, from, list string) {
	t.Helper()
	at := instant(t, from)
	var got []string
	for range strings.Fields(list) {
		next, ok := l.Next(at)
		if !ok {
			got = append(got, "none")
			break
		}
		for _, between := range []time.Time{at.Add(next.Sub(at) / 2), next.Add(-time.Second), next.Add(-1)} {
			if between.Before(at) {
				continue
			}
			if again, ok := l.Next(between); !ok || !again.Equal(next) {
				t.Errorf("after %s comes %s, but after %s comes %s", at, next, between, again)
			}
		}
		got = append(got, next.Format(time.RFC3339Nano))
		if !next.After(at) || next.Location() != time.UTC {
			t.Fatalf("%s comes after %s", next, at)
		}
		at = next
	}
	if joined := strings.Join(got, " "); joined != strings.Join(strings.Fields(list), " ") {
		t.Errorf("after %s come\n%s\nwant\n%s", from, strings.Join(got, "\n"), strings.Join(strings.Fields(list), "\n"))
	}
}

func TestClocksThatAreChanged(t *testing.T) {
	for _, test := range []struct{ about, zone, crontab, from, want string }{
		// Berlin leaves out 02:00 to 03:00 on 29 March 2026 (01:00Z), and has it twice on 25 October (00:00Z to 02:00Z).
		{"02:30 that is not there runs at the end of the gap", "Europe/Berlin", "30 2 * * *", "2026-03-28T00:00:00Z",
			"2026-03-28T01:30:00Z 2026-03-29T01:00:00Z 2026-03-30T00:30:00Z"},
		{"all in a gap are one, with what is due at its end", "Europe/Berlin", "0,20,40 2,3 * * *", "2026-03-29T00:00:00Z",
			"2026-03-29T01:00:00Z 2026-03-29T01:20:00Z 2026-03-29T01:40:00Z 2026-03-30T00:00:00Z"},
		{"03:00 is not moved by the gap before it", "Europe/Berlin", "0 3 * * *", "2026-03-28T12:00:00Z",
			"2026-03-29T01:00:00Z 2026-03-30T01:00:00Z"},
		{"02:30 that comes twice runs at its first", "Europe/Berlin", "30 2 * * *", "2026-10-24T12:00:00Z",
			"2026-10-25T00:30:00Z 2026-10-26T01:30:00Z"},
		{"each minute of hours that are chosen, too", "Europe/Berlin", "*/30 1-3 * * *", "2026-10-24T22:45:00Z",
			"2026-10-24T23:00:00Z 2026-10-24T23:30:00Z 2026-10-25T00:00:00Z 2026-10-25T00:30:00Z 2026-10-25T02:00:00Z 2026-10-25T02:30:00Z"},
		{"hourly runs at both passes", "Europe/Berlin", "30 * * * *", "2026-10-24T23:00:00Z",
			"2026-10-24T23:30:00Z 2026-10-25T00:30:00Z 2026-10-25T01:30:00Z 2026-10-25T02:30:00Z"},
		{"hourly runs each real hour over a gap", "Europe/Berlin", "@hourly", "2026-03-28T23:00:00Z",
			"2026-03-29T00:00:00Z 2026-03-29T01:00:00Z 2026-03-29T02:00:00Z"},
		{"0-23 is hourly", "Europe/Berlin", "0 0-23 * * *", "2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z 2026-10-25T02:00:00Z"},
		{"*/2 is not", "Europe/Berlin", "0 */2 * * *", "2026-10-24T22:30:00Z", "2026-10-25T00:00:00Z 2026-10-25T03:00:00Z"},
		{"every five minutes goes on through it", "Europe/Berlin", "*/5 * * * *", "2026-10-25T00:54:00Z",
			"2026-10-25T00:55:00Z 2026-10-25T01:00:00Z 2026-10-25T01:05:00Z"},
		{"the second pass has no fixed time", "Europe/Berlin", "0 2 * * *", "2026-10-25T00:59:59.5Z", "2026-10-26T01:00:00Z"},

		// New York: a gap on 8 March 2026 at 07:00Z, twice 01:00 to 02:00 on 1 November (05:00Z to 07:00Z).
		{"", "America/New_York", "30 2 * * *", "2026-03-07T12:00:00Z", "2026-03-08T07:00:00Z 2026-03-09T06:30:00Z"},
		{"", "America/New_York", "30 1 * * *", "2026-10-31T12:00:00Z", "2026-11-01T05:30:00Z 2026-11-02T06:30:00Z"},
		{"hourly, both 01:00s", "America/New_York", "0 * * * *", "2026-11-01T04:30:00Z", "2026-11-01T05:00:00Z 2026-11-01T06:00:00Z 2026-11-01T07:00:00Z"},
		{"weekly on that Sunday", "America/New_York", "30 2 * * sun", "2026-03-03T00:00:00Z", "2026-03-08T07:00:00Z 2026-03-15T06:30:00Z"},

		// Lord Howe moves by half an hour: 02:00 to 02:30 is left out on 4 October 2026 (3 October 15:30Z), and 01:30 to 02:00
		// comes twice on 5 April (4 April 14:30Z to 15:30Z).
		{"", "Australia/Lord_Howe", "15 2 * * *", "2026-10-02T20:00:00Z", "2026-10-03T15:30:00Z 2026-10-04T15:15:00Z"},
		{"after the gap, as always", "Australia/Lord_Howe", "45 2 * * *", "2026-10-02T20:00:00Z", "2026-10-03T15:45:00Z 2026-10-04T15:45:00Z"},
		{"", "Australia/Lord_Howe", "45 1 * * *", "2026-04-04T00:00:00Z", "2026-04-04T14:45:00Z 2026-04-05T15:15:00Z"},
		{"hourly, both 01:45s", "Australia/Lord_Howe", "45 * * * *", "2026-04-04T13:50:00Z", "2026-04-04T14:45:00Z 2026-04-04T15:15:00Z 2026-04-04T16:15:00Z"},
		{"hourly, no 02:15", "Australia/Lord_Howe", "15 * * * *", "2026-10-03T14:00:00Z", "2026-10-03T14:45:00Z 2026-10-03T16:15:00Z"},

		// Santiago and Beirut leave out midnight: on 6 September 2026 at 04:00Z, on 29 March 2026 at 28 March 22:00Z. Santiago has
		// 23:00 to midnight twice on 4 April (5 April 02:00Z to 04:00Z).
		{"a midnight that is not there", "America/Santiago", "@daily", "2026-09-05T12:00:00Z", "2026-09-06T04:00:00Z 2026-09-07T03:00:00Z"},
		{"of the first Sunday", "America/Santiago", "30 0 * * sun#1", "2026-09-01T00:00:00Z", "2026-09-06T04:00:00Z 2026-10-04T03:30:00Z"},
		{"a day that goes back at its end", "America/Santiago", "30 23 * * *", "2026-04-04T12:00:00Z", "2026-04-05T02:30:00Z 2026-04-06T03:30:00Z"},
		{"the midnight after it", "America/Santiago", "0 0 * * *", "2026-04-04T12:00:00Z", "2026-04-05T04:00:00Z 2026-04-06T04:00:00Z"},
		{"", "Asia/Beirut", "0 0 * * *", "2026-03-27T23:00:00Z", "2026-03-28T22:00:00Z 2026-03-29T21:00:00Z"},

		// Casablanca is an hour behind itself for Ramadan, from 15 February 2026, 02:00Z, to 22 March, 02:00Z.
		{"", "Africa/Casablanca", "30 2 * * *", "2026-02-14T12:00:00Z", "2026-02-15T01:30:00Z 2026-02-16T02:30:00Z"},
		{"", "Africa/Casablanca", "30 2 * * *", "2026-03-21T12:00:00Z", "2026-03-22T02:00:00Z 2026-03-23T01:30:00Z"},

		// Samoa had no 30 December 2011: it went from 10 hours behind to 14 ahead at 10:00Z that day.
		{"a day that is left out", "Pacific/Apia", "0 12 * * *", "2011-12-29T00:00:00Z", "2011-12-29T22:00:00Z 2011-12-30T10:00:00Z 2011-12-30T22:00:00Z"},
		{"once for all of it", "Pacific/Apia", "*/10 3-20 30 12 *", "2011-12-01T00:00:00Z", "2011-12-30T10:00:00Z 2012-12-29T13:00:00Z"},
		{"hourly not at all", "Pacific/Apia", "0 * 30 12 *", "2011-12-01T00:00:00Z", "2012-12-29T10:00:00Z 2012-12-29T11:00:00Z"},
		// Kwajalein was put ahead by a day in 1993, and back by 23 hours in 1969.
		{"a day that comes twice", "Pacific/Kwajalein", "0 12 * * *", "1969-09-29T00:00:00Z", "1969-09-29T01:00:00Z 1969-09-30T01:00:00Z 1969-10-02T00:00:00Z"},

		// Amsterdam was 0:19:32 ahead until 1937; in today's database it has the history of Brussels, so Monrovia stands in: 0:44:30
		// behind until 7 January 1972, when 00:00:00 became 00:44:30.
		{"offsets with seconds", "Africa/Monrovia", "0 0 * * *", "1972-01-05T12:00:00Z", "1972-01-06T00:44:30Z 1972-01-07T00:44:30Z 1972-01-08T00:00:00Z"},
		{"", "Africa/Monrovia", "30 0 * * *", "1972-01-06T12:00:00Z", "1972-01-07T00:44:30Z 1972-01-08T00:30:00Z"},
		{"", "Africa/Monrovia", "30 30 * * * *", "1972-01-06T23:00:00Z", "1972-01-06T23:15:00Z 1972-01-07T00:15:00Z 1972-01-07T01:30:30Z"},

		// What Go says of the changes of clocks in a year that is far ahead ends with 365 days of it.
		{"the last day of a leap year", "Australia/Lord_Howe", "0 12 1 1 *", "2039-02-01T00:00:00Z", "2040-01-01T01:00:00Z 2041-01-01T01:00:00Z 2042-01-01T01:00:00Z"},
		{"", "Australia/Lord_Howe", "0 0,12 31,1 * *", "2040-12-30T00:00:00Z", "2040-12-30T13:00:00Z 2040-12-31T01:00:00Z 2040-12-31T13:00:00Z 2041-01-01T01:00:00Z"},
		{"", "America/New_York", "0 */6 31 12 *", "2040-12-01T00:00:00Z", "2040-12-31T05:00:00Z 2040-12-31T11:00:00Z 2040-12-31T17:00:00Z 2040-12-31T23:00:00Z 2041-12-31T05:00:00Z"},
		{"", "America/New_York", "@hourly", "2040-12-31T22:30:00Z", "2040-12-31T23:00:00Z 2041-01-01T00:00:00Z 2041-01-01T01:00:00Z"},
		{"", "America/New_York", "0 * 1 1 *", "2040-12-30T22:30:00Z", "2041-01-01T05:00:00Z 2041-01-01T06:00:00Z"},

		// UTC and zones that do not change.
		{"", "", "30 2 * * *", "2026-03-29T00:00:00Z", "2026-03-29T02:30:00Z 2026-03-30T02:30:00Z"},
		{"", "Asia/Kolkata", "30 2 * * *", "2026-03-29T00:00:00Z", "2026-03-29T21:00:00Z 2026-03-30T21:00:00Z"},
		{"", "Etc/GMT+5", "0 0 1 1 *", "2026-03-29T00:00:00Z", "2027-01-01T05:00:00Z 2028-01-01T05:00:00Z"},
	} {
		t.Run(strings.TrimSpace(test.zone+" "+test.crontab+" "+test.about), func(t *testing.T) {
			wantNext(t, parse(t, test.zone, test.crontab), test.from, test.want)
		})
	}
}
