package units_test

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/robfig/cron/v3"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/slots"
)

// units runs units for a program that is there: this one lies in a temporary folder.
func units(t *testing.T, args ...string) rig.Result {
	t.Helper()
	if !slices.Contains(args, "--binary") {
		args = append(args, "--binary", "/opt/prescient")
	}
	return rig.Execute(t.Context(), cmd.Options{}, nil, "", append([]string{"units"}, args...)...)
}

func texts(t *testing.T, args ...string) map[string]string {
	t.Helper()
	got := units(t, append(args, "--json")...)
	if got.Code != cmd.ExitOK {
		t.Fatalf("%v", got)
	}
	files := make(map[string]string)
	for _, file := range rig.Lines[struct{ Name, Text string }](t, got.Out) {
		files[file.Name] = file.Text
	}
	return files
}

func TestSystemdUnits(t *testing.T) {
	config := rig.File(t, "pre scient.yaml", "dsn: \"a:b@tcp(c:1)/d\"\nslots: {resolution: 15m}\nsweep: {every: 90s}\nworker: {stop_grace: 1m}\n")
	files := texts(t, "systemd", "--shards", "2", "--config", config, "--binary", "/opt/100% free/prescient", "--user", "app", "--log-level", "warn")
	for name, wants := range map[string][]string{
		"prescient-1.service": {"\nType=oneshot\n", `ExecStart="/opt/100%% free/prescient" run --config "` + config + `" --log-level warn --worker-share 1/2` + "\n",
			"\nUser=app\n", "\nEnvironmentFile=-/etc/default/prescient\n", "\nTimeoutStopSec=90\n"},
		"prescient-1.timer":       {"\nOnCalendar=*-*-* *:00,30:00 UTC\n", "\nAccuracySec=100ms\n", "\nWantedBy=timers.target\n"},
		"prescient-2.timer":       {"\nOnCalendar=*-*-* *:15,45:00 UTC\n"},
		"prescient-2.service":     {"--worker-share 2/2\n"},
		"prescient-sweep.service": {" sweep --config "},
		"prescient-sweep.timer":   {"\nOnUnitInactiveSec=90\n"},
		"prescient-prune.service": {"\nType=oneshot\n", " prune --config ", " --keep 90d\n", "needs an account with the role owner"},
		"prescient-prune.timer":   {"\nOnCalendar=*-*-* 03:17:00 UTC\n", "\nPersistent=yes\n"},
	} {
		for _, want := range wants {
			if !strings.Contains(files[name], want) {
				t.Errorf("no %q in %s:\n%s", want, name, files[name])
			}
		}
		if strings.Contains(files[name], "a:b@") {
			t.Errorf("the password is in %s:\n%s", name, files[name])
		}
		delete(files, name)
	}
	if len(files) > 0 {
		t.Errorf("there are more: %v", files)
	}
	work := texts(t, "systemd", "--work", "--name", "checks")["checks.service"]
	for _, want := range []string{"\nType=notify\n", "\nWatchdogSec=60\n", "\nRestart=on-failure\n", " work\n", "\nWantedBy=multi-user.target\n"} {
		if !strings.Contains(work, want) {
			t.Errorf("no %q in\n%s", want, work)
		}
	}
}

// Where there are routes, events go out; and prune runs, as whom and for how long it was said.
func TestUnitsForwardAndPrune(t *testing.T) {
	routes := rig.File(t, "prescient.yaml", "dsn: u:p@tcp(c:1)/d\nevents:\n  routes:\n  - topics: orders.*\n    url: 'log:'\n")
	owner := rig.File(t, "owner", "o:p@tcp(c:1)/d")
	lines := texts(t, "cron", "--config", routes, "--keep", "30d", "--owner-dsn-file", owner)["prescient"]
	for _, want := range []string{"\n* * * * * /opt/prescient forward --config " + routes + " --until-empty --log-level info\n",
		"\n17 3 * * * /opt/prescient prune --config " + routes + " --keep 30d --dsn-file " + owner + " >/dev/null\n"} {
		if !strings.Contains(lines, want) {
			t.Errorf("no %q in\n%s", want, lines)
		}
	}
	if strings.Contains(lines, "role owner") {
		t.Errorf("it asks for what was given:\n%s", lines)
	}
	forward := texts(t, "systemd", "--config", routes)["prescient-forward.service"]
	for _, want := range []string{"\nType=notify\n", " forward --config " + routes + "\n", "\nRestart=on-failure\n"} {
		if !strings.Contains(forward, want) {
			t.Errorf("no %q in\n%s", want, forward)
		}
	}
	receivers := rig.File(t, "receivers.yaml", "dsn: u:p@tcp(c:1)/d\nnotify: {receivers: [{name: team, url: 'https://example.com/'}]}\n")
	if lines := texts(t, "cron", "--config", receivers)["prescient"]; !strings.Contains(lines, "\n* * * * * /opt/prescient notify --config "+receivers+"\n") {
		t.Errorf("nobody is told in\n%s", lines)
	}
	if all := texts(t, "systemd", "--config", receivers); !strings.Contains(all["prescient-notify.service"], " notify --config "+receivers+"\n") || !strings.Contains(all["prescient-notify.timer"], "\nOnUnitInactiveSec=60\n") {
		t.Errorf("nobody is told by\n%s", all)
	}
	for about, test := range map[string]struct {
		args  []string
		files string
	}{
		"work tells by itself":    {[]string{"systemd", "--work", "--config", receivers}, "prescient-prune.service prescient-prune.timer prescient.service"},
		"work forwards by itself": {[]string{"systemd", "--work", "--config", routes}, "prescient-prune.service prescient-prune.timer prescient.service"},
		"no routes":               {[]string{"systemd", "--work"}, "prescient-prune.service prescient-prune.timer prescient.service"},
		"no prune":                {[]string{"systemd", "--work", "--keep", ""}, "prescient.service"},
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(texts(t, test.args...))), " "); got != test.files {
			t.Errorf("%s: %s; want %s", about, got, test.files)
		}
	}
	if lines := texts(t, "cron", "--keep=")["prescient"]; strings.Contains(lines, "forward") || strings.Contains(lines, "prune") {
		t.Errorf("it has more than it should:\n%s", lines)
	}
}

// What systemd itself says of the units, where it is installed; elsewhere the texts above have to do.
func TestSystemdTakesTheUnits(t *testing.T) {
	t.Parallel()
	analyze, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Log("systemd-analyze is not installed")
		return
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for about, args := range map[string][]string{
		"two shards": {"--shards", "2"}, "days that differ": {"--shards", "7"}, "stays up": {"--work", "--shards", "2"},
		"an hour and a half": {"--slots-resolution", "90m"}, "27 seconds": {"--slots-resolution", "27s"}, "a second": {"--slots-resolution", "1s"},
	} {
		dir := t.TempDir()
		got := units(t, append([]string{"systemd", "--dir", dir, "--binary", self}, args...)...)
		if got.Code != cmd.ExitOK {
			t.Fatalf("%v", got)
		}
		verify := exec.CommandContext(t.Context(), analyze, append([]string{"verify", "--man=no", "--recursive-errors=no"}, strings.Fields(got.Out)...)...)
		if said, err := verify.CombinedOutput(); err != nil || len(said) > 0 {
			t.Errorf("%s: systemd-analyze verify: %v\n%s", about, err, said)
		}
		timers, _ := filepath.Glob(filepath.Join(dir, "*.timer"))
		for _, timer := range timers {
			text, _ := os.ReadFile(timer)
			for line := range strings.Lines(string(text)) {
				if calendar, is := strings.CutPrefix(strings.TrimSpace(line), "OnCalendar="); is {
					if said, err := exec.CommandContext(t.Context(), analyze, "calendar", calendar).CombinedOutput(); err != nil {
						t.Fatalf("%s: systemd-analyze calendar: %v\n%s", about, err, said)
					}
				}
			}
		}
	}
}

// The lines are read by a cron, and come to pass at the slots of their shard and at no other time.
func TestCronLinesComeAtTheirSlots(t *testing.T) {
	for _, test := range []struct {
		resolution time.Duration
		args       []string
		share      string
	}{
		{15 * time.Minute, nil, "1/1"}, {15 * time.Minute, []string{"--shards", "2"}, "2/2"}, {5 * time.Minute, []string{"--shards", "3"}, "2/3"},
		{time.Minute, []string{"--shards", "2"}, "1/2"}, {time.Hour, []string{"--shards", "4"}, "3/4"}, {90 * time.Minute, nil, "1/1"},
		{8 * time.Hour, nil, "1/1"}, {24 * time.Hour, nil, "1/1"}, {9 * time.Minute, []string{"--shards", "2"}, "2/2"},
		{45 * time.Minute, []string{"--shards", "2"}, "1/2"},
	} {
		text := texts(t, append([]string{"cron", "--binary", "/usr/bin/prescient", "--slots-resolution", test.resolution.String()}, test.args...)...)["prescient"]
		grid, err := slots.NewGrid(test.resolution)
		if err != nil {
			t.Fatal(err)
		}
		assigned, err := slots.ParseShare(grid, test.share)
		if err != nil {
			t.Fatal(err)
		}
		mine := make(map[time.Time]bool)
		for line := range strings.Lines(text) {
			when, command, _ := strings.Cut(line, " /usr/bin/prescient run ")
			if command == "" || len(test.args) > 0 && !strings.Contains(command, "--worker-share "+test.share) {
				continue
			}
			schedule, err := cron.ParseStandard(when)
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			for at := schedule.Next(rig.Day.Add(-time.Second)); at.Before(rig.Day.AddDate(0, 0, 3)); at = schedule.Next(at) {
				mine[at] = true
			}
		}
		for slot := assigned.Next(rig.Day.Add(-time.Second)); slot.Before(rig.Day.AddDate(0, 0, 3)); slot = assigned.Next(slot) {
			if !mine[slot] {
				t.Fatalf("%s, share %s: nothing comes at %s:\n%s", test.resolution, test.share, slot, text)
			}
			delete(mine, slot)
		}
		if len(mine) > 0 {
			t.Errorf("%s, share %s: %d runs that are not for a slot of it, such as %v:\n%s", test.resolution, test.share, len(mine), mine, text)
		}
	}
}

func TestCronQuotes(t *testing.T) {
	text := texts(t, "cron", "--binary", "/opt/it's 100%/prescient", "--user", "app")["prescient"]
	if want := `*/15 * * * * app '/opt/it'\''s 100\%/prescient' run` + "\n"; !strings.Contains(text, want) {
		t.Errorf("no %q in\n%s", want, text)
	}
}

func TestUnitsThatCannotBe(t *testing.T) {
	for about, test := range map[string]struct {
		args []string
		says string
	}{
		"cron knows no seconds":       {[]string{"cron", "--slots-resolution", "10s"}, "slots.resolution 10s: cron cannot express it, it knows whole minutes only"},
		"cron sweeps by the minute":   {[]string{"cron", "--sweep-every", "30s"}, "sweep.every 30s: cron cannot express it"},
		"a sweep that divides no day": {[]string{"cron", "--sweep-every", "7m"}, "sweep.every 7m0s: cron cannot"},
		"shards of a share":           {[]string{"cron", "--shards", "2", "--worker-share", "1/2"}, "--shards excludes worker.share"},
		"no shards":                   {[]string{"systemd", "--shards", "0"}, "--shards 0: 1 to 64 are allowed"},
		"a name":                      {[]string{"systemd", "--name", "a/b"}, `--name "a/b"`},
		"a user":                      {[]string{"cron", "--user", "a b"}, `--user "a b"`},
		"history for no time":         {[]string{"cron", "--keep", "1h"}, "--keep 1h: at least 24h are allowed"},
		"history for some time":       {[]string{"systemd", "--keep", "long"}, `--keep: "long" is no duration`},
		"an owner of nothing":         {[]string{"systemd", "--keep", "", "--owner-dsn-file", "a"}, "--owner-dsn-file is for prune"},
		"a program":                   {[]string{"cron", "--binary", "prescient"}, "an absolute path is wanted"},
	} {
		t.Run(about, func(t *testing.T) { units(t, test.args...).Wants(t, cmd.ExitUsage, test.says) })
	}
}

// Units and monitoring make the folder that they write to.
func TestAFolderThatIsNotThereIsMade(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "missing", "too")
	units(t, "systemd", "--dir", dir, "--binary", "/opt/prescient").Wants(t, cmd.ExitOK)
	monitoring(t, "--dir", dir).Wants(t, cmd.ExitOK)
	if files, err := os.ReadDir(dir); err != nil || len(files) < 4 {
		t.Errorf("%v, %v", files, err)
	}
	file := rig.File(t, "file", "")
	monitoring(t, "--dir", file).Wants(t, cmd.ExitFailure, file)
}
