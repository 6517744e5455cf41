package schedule_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

func run(t *testing.T, args ...string) rig.Result {
	t.Helper()
	return rig.Execute(t.Context(), cmd.Options{}, nil, "", append([]string{"schedule", "next"}, args...)...)
}

func TestNextPrintsATimeALine(t *testing.T) {
	for _, test := range []struct {
		about string
		args  []string
		out   string
	}{
		{"the night in March", []string{"30 2 * * *", "--zone", "Europe/Berlin", "--from", "2026-03-28T00:00:00Z", "-n", "3"},
			"2026-03-28T02:30:00+01:00\n2026-03-29T03:00:00+02:00\n2026-03-30T02:30:00+02:00\n"},
		{"UTC, and after the time", []string{"0 9 * * *", "--from", "2026-03-28 09:00", "--count", "1"}, "2026-03-29T09:00:00Z\n"},
		{"several are as one", []string{"0 9 * * *", "0 10 * * *", "0 9 * * sat", "--from", "2026-03-28 08:00", "-n", "3"},
			"2026-03-28T09:00:00Z\n2026-03-28T10:00:00Z\n2026-03-29T09:00:00Z\n"},
		{"an interval counts from --from", []string{"@every 1d12h", "--from", "2026-03-28T00:00:00.9Z", "-n", "2"}, "2026-03-29T12:00:00Z\n2026-03-31T00:00:00Z\n"},
		{"a fraction", []string{"@at 2026-03-28T09:00:00.5Z", "--zone", "Asia/Kolkata", "--from", "2026-03-28 09:00", "-n", "1"}, "2026-03-28T14:30:01+05:30\n"},
		{"fine enough", []string{"*/15 * * * *", "--resolution", "15m", "--from", "2026-03-28 09:00", "-n", "1"}, "2026-03-28T09:15:00Z\n"},
		{"JSON", []string{"30 2 * * *", "--json", "--zone", "Europe/Berlin", "--from", "2026-03-29T00:00:00Z", "-n", "1"},
			`{"at":"2026-03-29T01:00:00Z","local":"2026-03-29T03:00:00+02:00"}` + "\n"},
	} {
		if got := run(t, test.args...); got.Code != cmd.ExitOK || got.Out != test.out || got.Err != "" {
			t.Errorf("%s: %v\nwant %s", test.about, got, test.out)
		}
	}
}

func TestNextPrintsAsManyAsAreAskedForOrLeft(t *testing.T) {
	for n, args := range map[int][]string{10: {"@daily"}, 1000: {"@daily", "-n", "1000"}} {
		if got := run(t, args...); got.Code != cmd.ExitOK || strings.Count(got.Out, "\n") != n {
			t.Errorf("%v\nwant %d lines", got, n)
		}
	}
	got := run(t, "@at 2026-03-28T09:00:00Z", "--from", "2026-03-28T09:00:00Z")
	got.Wants(t, cmd.ExitOK, "no more is to come")
	if got.Out != "" {
		t.Errorf("%v", got)
	}
}

func TestNextRefusesInALineThatSaysWhatIsAllowed(t *testing.T) {
	for _, test := range []struct {
		args []string
		says []string
	}{
		{nil, []string{"give one such as '30 2 * * *'"}},
		{[]string{"30", "2", "*", "*", "*"}, []string{`crontab "30"`, "in quotes"}},
		{[]string{"60 * * * *"}, []string{`crontab "60 * * * *": its minute is "60"; 0 to 59`, "allowed"}},
		{[]string{"0 0 31 2 *"}, []string{"never fires"}},
		{[]string{"@daily", "--zone", "Europe/Atlantis"}, []string{`time zone "Europe/Atlantis"`, "IANA"}},
		{[]string{"@daily", "--zone", "Local"}, []string{`time zone "Local"`, "allowed"}},
		{[]string{"@daily", "--from", "soon"}, []string{`--from: time "soon"`, "want now"}},
		{[]string{"@daily", "-n", "0"}, []string{"-n 0: 1 to 1000 are allowed"}},
		{[]string{"@daily", "-n", "1001"}, []string{"-n 1001: 1 to 1000 are allowed"}},
		{[]string{"*/5 * * * *", "--resolution", "15m", "--from", "2026-03-28 09:01"}, []string{"too fine for slots of 15m0s: 2026-03-28T09:05:00Z and 2026-03-28T09:10:00Z", "one occurrence in a slot is allowed"}},
		{[]string{"*/5 * * * *", "--resolution", "7m"}, []string{"--resolution", "does not divide a day", "allowed"}},
		{[]string{"*/5 * * * *", "--resolution", ""}, []string{"--resolution"}},
		{[]string{"*/5 * * * *", "--resolution", "0s"}, []string{"--resolution", "allowed"}},
	} {
		got := run(t, test.args...)
		got.Wants(t, cmd.ExitUsage, test.says...)
		if got.Out != "" || strings.Count(got.Err, "\n") != 1 {
			t.Errorf("%v", got)
		}
	}
}
