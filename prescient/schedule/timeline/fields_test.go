package timeline_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/schedule/timeline"
)

// In UTC, from Thursday 1 January 2026, 00:00 on.
func TestWhatACrontabMeans(t *testing.T) {
	for _, test := range []struct{ crontab, want string }{
		{"* * * * *", "2026-01-01T00:01:00Z 2026-01-01T00:02:00Z"},
		{"* * * * * *", "2026-01-01T00:00:01Z 2026-01-01T00:00:02Z"},
		{"59 59 23 31 12 *", "2026-12-31T23:59:59Z 2027-12-31T23:59:59Z"},
		{"\t5,7   0 * *\t*  ", "2026-01-01T00:05:00Z 2026-01-01T00:07:00Z 2026-01-02T00:05:00Z"},
		{"*/25 0 * * *", "2026-01-01T00:25:00Z 2026-01-01T00:50:00Z 2026-01-02T00:00:00Z"},
		{"5/25 0 * * *", "2026-01-01T00:05:00Z 2026-01-01T00:30:00Z 2026-01-01T00:55:00Z 2026-01-02T00:05:00Z"},
		{"10-50/20,11 0 * * *", "2026-01-01T00:10:00Z 2026-01-01T00:11:00Z 2026-01-01T00:30:00Z 2026-01-01T00:50:00Z 2026-01-02T00:10:00Z"},
		{"0 22-1 * * *", "2026-01-01T01:00:00Z 2026-01-01T22:00:00Z 2026-01-01T23:00:00Z 2026-01-02T00:00:00Z"},
		{"0 22-3/2 * * *", "2026-01-01T02:00:00Z 2026-01-01T22:00:00Z 2026-01-02T00:00:00Z 2026-01-02T02:00:00Z"},
		{"0 0 1 nov-feb *", "2026-02-01T00:00:00Z 2026-11-01T00:00:00Z 2026-12-01T00:00:00Z 2027-01-01T00:00:00Z"},
		{"0 0 1 MAR,jul *", "2026-03-01T00:00:00Z 2026-07-01T00:00:00Z 2027-03-01T00:00:00Z"},
		{"0 0 31 * *", "2026-01-31T00:00:00Z 2026-03-31T00:00:00Z 2026-05-31T00:00:00Z 2026-07-31T00:00:00Z"},
		{"0 0 29 2 *", "2028-02-29T00:00:00Z 2032-02-29T00:00:00Z"},

		{"0 9 * * THU", "2026-01-01T09:00:00Z 2026-01-08T09:00:00Z"},
		{"0 9 * * mon-fri", "2026-01-01T09:00:00Z 2026-01-02T09:00:00Z 2026-01-05T09:00:00Z"},
		{"0 9 * * fri-mon", "2026-01-02T09:00:00Z 2026-01-03T09:00:00Z 2026-01-04T09:00:00Z 2026-01-05T09:00:00Z 2026-01-09T09:00:00Z"},
		{"0 0 * * 0", "2026-01-04T00:00:00Z 2026-01-11T00:00:00Z"},
		{"0 0 * * 7", "2026-01-04T00:00:00Z 2026-01-11T00:00:00Z"},
		{"0 0 * * 6-7", "2026-01-03T00:00:00Z 2026-01-04T00:00:00Z 2026-01-10T00:00:00Z"},
		{"0 0 * * */2", "2026-01-03T00:00:00Z 2026-01-04T00:00:00Z 2026-01-06T00:00:00Z 2026-01-08T00:00:00Z 2026-01-10T00:00:00Z"},
		{"0 0 ? * 2", "2026-01-06T00:00:00Z 2026-01-13T00:00:00Z"},
		{"0 0 2 * ?", "2026-01-02T00:00:00Z 2026-02-02T00:00:00Z"},
		{"0 0 ? * ?", "2026-01-02T00:00:00Z 2026-01-03T00:00:00Z"},

		// Both fields of days restrict: either is enough.
		{"0 0 13 * fri", "2026-01-02T00:00:00Z 2026-01-09T00:00:00Z 2026-01-13T00:00:00Z 2026-01-16T00:00:00Z"},
		{"0 0 */20 * fri", "2026-01-02T00:00:00Z 2026-01-09T00:00:00Z 2026-01-16T00:00:00Z 2026-01-21T00:00:00Z"},
		{"0 0 */1 * fri", "2026-01-02T00:00:00Z 2026-01-09T00:00:00Z"},
		{"0 0 L * fri#1", "2026-01-02T00:00:00Z 2026-01-31T00:00:00Z 2026-02-06T00:00:00Z 2026-02-28T00:00:00Z"},

		{"0 0 L * *", "2026-01-31T00:00:00Z 2026-02-28T00:00:00Z 2026-03-31T00:00:00Z 2026-04-30T00:00:00Z"},
		{"0 0 l 2 ?", "2026-02-28T00:00:00Z 2027-02-28T00:00:00Z 2028-02-29T00:00:00Z"},
		{"0 0 L-3 * *", "2026-01-28T00:00:00Z 2026-02-25T00:00:00Z"},
		{"0 0 L-30 * *", "2026-03-01T00:00:00Z 2026-05-01T00:00:00Z"},
		{"0 0 1,L * *", "2026-01-31T00:00:00Z 2026-02-01T00:00:00Z 2026-02-28T00:00:00Z 2026-03-01T00:00:00Z"},
		{"0 0 LW * *", "2026-01-30T00:00:00Z 2026-02-27T00:00:00Z 2026-03-31T00:00:00Z"},
		{"0 0 15W * *", "2026-01-15T00:00:00Z 2026-02-16T00:00:00Z 2026-03-16T00:00:00Z 2026-04-15T00:00:00Z"},
		{"0 0 1W 8 *", "2026-08-03T00:00:00Z 2027-08-02T00:00:00Z"},     // a Saturday, a Sunday
		{"0 0 31w 5,10 *", "2026-05-29T00:00:00Z 2026-10-30T00:00:00Z"}, // a Sunday, a Saturday
		{"0 0 ? * fri#3", "2026-01-16T00:00:00Z 2026-02-20T00:00:00Z"},
		{"0 0 ? * 5#3", "2026-01-16T00:00:00Z 2026-02-20T00:00:00Z"},
		{"0 0 ? * thu#5", "2026-01-29T00:00:00Z 2026-04-30T00:00:00Z 2026-07-30T00:00:00Z"},
		{"0 0 * * FRI#L", "2026-01-30T00:00:00Z 2026-02-27T00:00:00Z"},
		{"0 0 * * 5L", "2026-01-30T00:00:00Z 2026-02-27T00:00:00Z"},
		{"0 0 * * friL,7#1,mon", "2026-01-04T00:00:00Z 2026-01-05T00:00:00Z 2026-01-12T00:00:00Z 2026-01-19T00:00:00Z 2026-01-26T00:00:00Z 2026-01-30T00:00:00Z"},

		{"@yearly", "2027-01-01T00:00:00Z 2028-01-01T00:00:00Z"},
		{"@annually", "2027-01-01T00:00:00Z 2028-01-01T00:00:00Z"},
		{"@monthly", "2026-02-01T00:00:00Z 2026-03-01T00:00:00Z"},
		{"@weekly", "2026-01-04T00:00:00Z 2026-01-11T00:00:00Z"},
		{"@daily", "2026-01-02T00:00:00Z 2026-01-03T00:00:00Z"},
		{" @Midnight ", "2026-01-02T00:00:00Z 2026-01-03T00:00:00Z"},
		{"@hourly", "2026-01-01T01:00:00Z 2026-01-01T02:00:00Z"},

		{"@every 1h30m", "2026-01-01T01:30:00Z 2026-01-01T03:00:00Z"},
		{"@every 90s", "2026-01-01T00:01:30Z 2026-01-01T00:03:00Z"},
		{"@every 1d", "2026-01-02T00:00:00Z 2026-01-03T00:00:00Z"},
		{"@every 1D12h", "2026-01-02T12:00:00Z 2026-01-04T00:00:00Z"},
		{"@every 1w1d1s", "2026-01-09T00:00:01Z 2026-01-17T00:00:02Z"},
		{"@at 1767225601", "2026-01-01T00:00:01Z none"},
		{"@at 2026-01-02T01:00:00+01:00", "2026-01-02T00:00:00Z none"},
		{"@AT 2026-01-02t00:00:00.000001z", "2026-01-02T00:00:01Z none"},
		{"@at 2026-01-01T00:00:00Z", "none"},
	} {
		t.Run(test.crontab, func(t *testing.T) { wantNext(t, parse(t, "", test.crontab), "2026-01-01T00:00:00Z", test.want) })
	}
}

func TestDaysThatAreFarApartAreFound(t *testing.T) {
	wantNext(t, parse(t, "", "0 0 29 2 *"), "2096-02-01T00:00:00Z", "2096-02-29T00:00:00Z 2104-02-29T00:00:00Z")
	wantNext(t, parse(t, "", "0 0 ? 2 mon#5"), "2072-01-01T00:00:00Z", "2072-02-29T00:00:00Z 2112-02-29T00:00:00Z")
	wantNext(t, parse(t, "Europe/Berlin", "0 * ? 2 mon#5"), "2072-02-29T22:30:00Z", "2112-02-28T23:00:00Z 2112-02-29T00:00:00Z")
}

func TestIntervalsCountFromTheAnchor(t *testing.T) {
	l, err := timeline.Parse([]string{"@every 7s"}, "Europe/Berlin", instant(t, "2026-03-29T00:59:58.9Z"))
	if err != nil {
		t.Fatal(err)
	}
	wantNext(t, l, "2026-03-29T00:59:58.9Z", "2026-03-29T01:00:05Z 2026-03-29T01:00:12Z")
	wantNext(t, l, "2020-01-01T00:00:00Z", "2026-03-29T01:00:05Z 2026-03-29T01:00:12Z")
	wantNext(t, l, "2026-03-29T01:00:11.999999Z", "2026-03-29T01:00:12Z 2026-03-29T01:00:19Z")
}

func TestSeveralCrontabsFireAtEachInstantOnce(t *testing.T) {
	l := parse(t, "Europe/Berlin", "30 2 * * *", "0 3 * * *", "@at 2026-03-29T01:00:00Z", "@every 1d", "30 2 * * *")
	wantNext(t, l, "2026-03-28T00:00:00Z", `2026-03-28T01:30:00Z 2026-03-28T02:00:00Z 2026-03-29T00:00:00Z 2026-03-29T01:00:00Z
		2026-03-30T00:00:00Z 2026-03-30T00:30:00Z 2026-03-30T01:00:00Z`)
}

func TestWhatIsRefusedSaysWhatIsAllowed(t *testing.T) {
	const fields = "five fields are allowed"
	for _, test := range []struct{ crontab, says string }{
		{"", fields}, {" \t", fields}, {"* * * *", "number of fields is 4"}, {"* * * * * * *", "number of fields is 7"}, {"TZ=UTC * * * * *", `its second is "tz=utc"`},
		{"60 * * * *", `its minute is "60"; 0 to 59`}, {"61 * * * * *", `its second is "61"; 0 to 59`}, {"* 24 * * *", `its hour is "24"; 0 to 23`},
		{"* * 0 * *", `its day of month is "0"; 1 to 31`}, {"* * 32 * *", `its day of month is "32"`}, {"* * * 13 *", `its month is "13"; 1 to 12, jan`},
		{"* * * 0 *", `its month is "0"`}, {"* * * * 8", `its day of week is "8"; 0 to 7, sun`}, {"* * * * foo", `its day of week is "foo"`},
		{"* * * * fri#6", `"fri#6"`}, {"* * * * fri#0", `"fri#0"`}, {"* * * * L", `"l"`}, {"* * * * foo#1", `"foo#1"`}, {"* * * * 5W", `"5w"`},
		{"* * L-0 * *", `"l-0"`}, {"* * L-31 * *", `"l-31"`}, {"* * 32W * *", `"32w"`}, {"* * W * *", `"w"`}, {"* * WL * *", `"wl"`}, {"* * 1-5W * *", `"1-5w"`},
		{"? * * * *", `its minute is "?"`}, {"* * ?/2 * *", `"?/2"`}, {"* * ?,1 * *", `"?,1"`},
		{", * * * *", `its minute is ","`}, {"1,,2 * * * *", `"1,,2"`}, {"1, * * * *", `"1,"`}, {"*-5 * * * *", `"*-5"`}, {"+5 * * * *", `"+5"`}, {"-5 * * * *", `"-5"`},
		{"1-2-3 * * * *", `"1-2-3"`}, {"1/2/3 * * * *", `"1/2/3"`}, {"*/0 * * * *", `"*/0"`}, {"*/60 * * * *", "steps below"}, {"10-20/30 * * * *", "steps below"}, {"70-0 * * * *", `its minute is "70-0"`},
		{"* 30-8 * * *", `"30-8"`}, {"* * 32-5 * *", `"32-5"`}, {"* * * 13-2 *", `"13-2"`}, {"* * * * 8-2", `"8-2"`}, {"5-70 * * * *", `"5-70"`},
		{"H * * * *", `"h"`}, {"5x * * * *", `"5x"`}, {"jan * * * *", `its minute is "jan"`}, {"* * * * fri-mon/2", `"fri-mon/2"`}, {"* * * * 7-2/2", `"7-2/2"`},
		{"0 0 31 2 *", "never fires"}, {"0 0 30,31 feb *", "never fires"}, {"0 0 31 4,6,9,11 *", "never fires"}, {"0 0 L-29 2 *", "never fires"}, {"0 0 30W 2 ?", "never fires"},
		{"@", fields}, {"@reboot", fields}, {"@every", fields}, {"@at", fields}, {"@hourly 5", fields}, {"@every 1h 30m", fields}, {"@at 2026-01-01 00:00:00", fields},
		{"@every 0s", "1s to 3660d"}, {"@every 999ms", "1s to 3660d"}, {"@every 1.5s", "whole seconds"}, {"@every -1h", "1s"}, {"@every 3661d", "3660d"}, {"@every d", "1w"},
		{"@every 5", "1s"}, {"@every 1h1d", "1s"}, {"@every 1d-1h", "1s"}, {"@every 99999999999999999999d", "1s"}, {"@every 4000w9000000h", "1s"}, {"@every 1d1", "1s"},
		{"@at soon", "RFC 3339"}, {"@at -5", "RFC 3339"}, {"@at 99999999999999", "RFC 3339"}, {"@at 2026-01-01T00:00:00", "RFC 3339"}, {"@at 2026-13-01T00:00:00Z", "RFC 3339"},
		{"@at 2026-01-01T00:00:00.0000001Z", "microsecond"}, {"@at 0999-12-31T23:59:59Z", "1000"}, {"@at 999999999999", "9999"},
		{"0 0 * * \xff", "character"}, {"0 0 * * *\n0 1 * * *", "character"}, {"０ 0 * * *", "character"}, {"\u212a * * * *", "character"},
		{strings.Repeat("* ", 200), "255 are allowed"},

		// A list with a star in a field of days.
		{"0 9 *,15 * mon", `its day of month is "*,15", a list with a star, which programs of cron read differently; * for each day, or 15 for these alone, is allowed`},
		{"0 9 1,* * *", "* for each day, or 1 for these alone"}, {"0 9 *,* * mon", "differently; * is allowed instead"}, {"0 9 */1,15,L * *", "or 15,l for these"},
		{"0 9 */2,15 * mon", "differently; 1-31/2,15 is allowed instead"}, {"0 9 1 * *,5", `its day of week is "*,5"`}, {"0 9 ? * fri,*/2", "fri,0-6/2 is allowed instead"},
		{"0 9 * * *,*/3", "* for each day, or 0-6/3 for"}, {"0 0 9 15W,* * *", "or 15w for these"}, {"0 9 ?,15 * *", `its day of month is "?,15"`}, {"0 9 * * mon,?", `its day of week is "mon,?"`},

		// What only others read.
		{"cron(0 12 ? * MON-FRI *)", "that of AWS"}, {"rate(5 minutes)", "@every 5m"}, {"0 12 ? * MON-FRI *", `its hour is "?"`}, {"0 12 ? * 2 *", "the year of AWS"}, {"0 12 * * ? *", "the year of AWS"},
		{"0 12 1 1 ? 2027", "the year of AWS"}, {"15 10 5 6 5 2027", "a year is not allowed"}, {"0 0 12 ? * MON 2027", "the year of Quartz"}, {"0 0 12 ? * L", "the L of Quartz is 6 or sat"},
		{"0 0 12 ? * 7#6", `its day of week is "7#6"`}, {"0 0 12 5C * ?", `its day of month is "5c"`}, {"H H * * *", "H is that of Jenkins"}, {"H/15 * * * *", "H is that of Jenkins"},
		{"0 H(0-7) * * *", "H is that of Jenkins"}, {"0 0,H * * *", "H is that of Jenkins"}, {"CRON_TZ=Europe/Berlin 0 8 * * *", "the zone does not stand in the crontab"},
	} {
		_, err := timeline.Parse([]string{"* * * * *", test.crontab}, "", time.Time{})
		switch {
		case err == nil:
			t.Errorf("%q is read", test.crontab)
		case !errors.Is(err, prescient.ErrInvalid), !strings.Contains(err.Error(), test.says), !strings.Contains(err.Error(), "allowed"),
			strings.Contains(err.Error(), "strconv"), len(err.Error()) > 600:
			t.Errorf("%q: %v; want %s", test.crontab, err, test.says)
		}
	}
}

// What was taken once is read as it was: a star in a list of days did not restrict, one with a step did.
func TestAStoredListWithAStarFiresAsBefore(t *testing.T) {
	for crontab, want := range map[string]string{
		"0 9 *,15 * mon":   "2026-01-05T09:00:00Z 2026-01-12T09:00:00Z 2026-01-19T09:00:00Z",
		"0 9 1,* * mon":    "2026-01-05T09:00:00Z 2026-01-12T09:00:00Z",
		"0 9 15 * *,5":     "2026-01-15T09:00:00Z 2026-02-15T09:00:00Z",
		"0 9 *,* * *":      "2026-01-01T09:00:00Z 2026-01-02T09:00:00Z",
		"0 9 */20,5 * fri": "2026-01-01T09:00:00Z 2026-01-02T09:00:00Z 2026-01-05T09:00:00Z 2026-01-09T09:00:00Z 2026-01-16T09:00:00Z 2026-01-21T09:00:00Z",
	} {
		l, err := timeline.ParseStored([]string{crontab}, "", time.Time{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		wantNext(t, l, "2026-01-01T00:00:00Z", want)
	}
}

// What is to be written in the place of a list with a star is read, and means what the list did or what it says.
func TestWhatIsSaidToBeWrittenIsRead(t *testing.T) {
	for stored, instead := range map[string]string{"0 9 */2,15 * mon": "0 9 1-31/2,15 * mon", "0 9 1 * fri,*/2": "0 9 1 * fri,0-6/2", "0 9 *,15 * mon": "0 9 * * mon"} {
		was, err := timeline.ParseStored([]string{stored}, "", time.Time{}, nil)
		if err != nil {
			t.Fatal(err)
		}
		is, at := parse(t, "", instead), instant(t, "2026-01-01T00:00:00Z")
		for range 100 {
			next, _ := was.Next(at)
			if again, _ := is.Next(at); !again.Equal(next) {
				t.Fatalf("%s fires at %s, and %s at %s", stored, next, instead, again)
			}
			at = next
		}
	}
}

func TestNumbersOfCrontabsAndZonesAreBounded(t *testing.T) {
	many := make([]string, timeline.MaxCrontabs+1)
	for i := range many {
		many[i] = "* * * * *"
	}
	if _, err := timeline.Parse(many[1:], "UTC", time.Time{}); err != nil {
		t.Error(err)
	}
	for _, list := range [][]string{nil, {}, many} {
		if _, err := timeline.Parse(list, "", time.Time{}); !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), "1 to 32 are allowed") {
			t.Errorf("%d crontabs: %v", len(list), err)
		}
	}
	for _, zone := range []string{"Local", "local", "localtime", "right/UTC", "posix/UTC", "posixrules", "Europe/Atlantis", "+01:00", "../etc/passwd", "/etc/localtime",
		" UTC", "a\x00b", "\xff", strings.Repeat("x", 100_000)} {
		_, err := timeline.Parse(many[:1], zone, time.Time{})
		if !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), "IANA") || len(err.Error()) > 400 {
			t.Errorf("%.80q: %v", zone, err)
		}
	}
}

func TestNothingFiresBeyondTheYearsOfADatabase(t *testing.T) {
	for _, zone := range []string{"", "America/New_York", "Asia/Tokyo"} {
		for _, crontab := range []string{"* * * * * *", "@hourly", "@daily", "0 0 29 2 *", "@every 1h", "59 59 23 31 12 *"} {
			l := parse(t, zone, crontab)
			for _, from := range []time.Time{time.Unix(-1<<62, 0), {}, instant(t, "0999-12-31T00:00:00Z")} {
				if first, ok := l.Next(from); !ok || first.Year() < 1000 || first.Year() > 2026 {
					t.Errorf("%s in %s: %s comes after %s", crontab, zone, first, from)
				}
			}
			for _, from := range []time.Time{time.Unix(1<<62, 0), instant(t, "9999-12-31T23:59:59Z"), instant(t, "9999-12-31T23:59:59.5Z")} {
				if next, ok := l.Next(from); ok {
					t.Errorf("%s in %s: %s comes after %s", crontab, zone, next, from)
				}
			}
			if next, ok := l.Next(instant(t, "9999-12-31T00:00:00Z")); ok && next.Year() != 9999 {
				t.Errorf("%s in %s: %s", crontab, zone, next)
			}
		}
	}
	var zero timeline.Timeline
	if _, ok := zero.Next(time.Now()); ok || zero.Zone() != time.UTC {
		t.Error("the zero Timeline fires")
	}
}
