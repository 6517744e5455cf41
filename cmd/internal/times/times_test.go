package times_test

import (
	"strings"
	"testing"
	"time"

	"prescient/cmd/internal/times"
)

func TestParse(t *testing.T) {
	now := time.Date(2026, 3, 1, 10, 5, 0, 0, time.UTC)
	for _, test := range []struct {
		text string
		want string // RFC 3339, or a piece of the error
	}{
		// with a zone
		{"2026-03-01T13:00:00Z", "2026-03-01T13:00:00Z"},
		{"2026-03-01T13:00:00+02:00", "2026-03-01T11:00:00Z"},
		{"2026-03-01T13:00:00.123456789Z", "2026-03-01T13:00:00.123456789Z"},
		{"2026-03-01 13:00 -05:00", "2026-03-01T18:00:00Z"},
		{"2026-03-01 13:00:30 +0200", "2026-03-01T11:00:30Z"},
		{"2026-03-01 13:00Z", "2026-03-01T13:00:00Z"},
		{"2026-03-01 13:00 UTC", "2026-03-01T13:00:00Z"},

		// without one it is UTC, whatever the machine's is
		{"2026-03-01 13:00", "2026-03-01T13:00:00Z"},
		{"2026-03-01 13:00:59", "2026-03-01T13:00:59Z"},
		{"2026-03-01T13:00", "2026-03-01T13:00:00Z"},
		{" 2026-03-01 13:00 ", "2026-03-01T13:00:00Z"},

		// counted from now
		{"now", "2026-03-01T10:05:00Z"},
		{"now+3h", "2026-03-01T13:05:00Z"},
		{"now-1d12h", "2026-02-27T22:05:00Z"},
		{"+90s", "2026-03-01T10:06:30Z"},
		{"-1h", "2026-03-01T09:05:00Z"},

		// not
		{"", "want now"},
		{"tomorrow", `time "tomorrow": want now`},
		{"13:00", "want now"},
		{"2026-03-01", "want now"},
		{"2026-02-29 10:00", "want now"},
		{"2026-03-01 24:00", "want now"},
		{"01.03.2026 13:00", "want now"},
		{"2026-03-01 13:00 CET", "want now"},
		{"1772370000", "want now"},
		{"nowish", "want now"},
		{"now+", "no duration"},
		{"now+3", "no duration"},
		{"+-3h", "no duration"},
		{"0999-12-31 23:59", "years from 1000 to 9999 are allowed"},
		{"9999-12-31T23:59:59-01:00", "years from 1000 to 9999 are allowed"},
	} {
		got, err := times.Parse(test.text, now)
		text := got.Format(time.RFC3339Nano)
		if err != nil {
			text = err.Error()
		}
		if text != test.want && (err == nil || !strings.Contains(text, test.want)) {
			t.Errorf("%q: %s; want %s", test.text, text, test.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"now", "now+3h", "-1d", "2026-03-01 13:00", "2026-03-01T13:00:00.5+02:00", "2026-03-01 13:00 UTC"} {
		f.Add(seed)
	}
	now := time.Date(2026, 3, 1, 10, 5, 0, 0, time.UTC)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := times.Parse(text, now)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\x1b") {
				t.Errorf("%q: the error is not one line: %q", text, err)
			}
			return
		}
		if got.Location() != time.UTC {
			t.Errorf("%q: %s is not UTC", text, got)
		}
		again, err := times.Parse(got.Format(time.RFC3339Nano), now)
		if err != nil || !again.Equal(got) {
			t.Errorf("%q is %s, and that is %s, %v", text, got, again, err)
		}
	})
}
