package units_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

func monitoring(t *testing.T, args ...string) rig.Result {
	t.Helper()
	return rig.Execute(t.Context(), cmd.Options{}, nil, "", append([]string{"monitoring"}, args...)...)
}

// The files are those that are printed, and the bounds those of the configuration.
func TestMonitoringWritesRulesAndADashboard(t *testing.T) {
	config := rig.File(t, "prescient.yaml", "slots: {resolution: 5m}\nsweep: {every: 2m}\ndoctor: {failing: 25, failing_calls: 7, missed: 3}\n")
	args := []string{"--config", config, "--name", "shop", "--label", "job=shop", "--label", "region=eu"}
	printed := monitoring(t, append(args, "--json")...)
	printed.Wants(t, cmd.ExitOK)
	dir := t.TempDir()
	got := monitoring(t, append(args, "--dir", dir)...)
	got.Wants(t, cmd.ExitOK)
	var names []string
	for _, file := range rig.Lines[struct{ Name, Text string }](t, printed.Out) {
		names = append(names, filepath.Join(dir, file.Name))
		if text, err := os.ReadFile(filepath.Join(dir, file.Name)); err != nil || string(text) != file.Text {
			t.Errorf("%s is not what was printed: %v", file.Name, err)
		}
		if strings.HasSuffix(file.Name, ".json") && !json.Valid([]byte(file.Text)) {
			t.Errorf("%s is no JSON", file.Name)
		}
		for _, want := range map[string][]string{"shop-rules.yaml": {`(prescient_backlog_age_seconds{job="shop", region="eu"}) > 840`, `job_exec!="schedule.fire"} >= 7`, `{job="shop", region="eu"} >= 0.25`, "> 3\n",
			"job: shop\n", "name: shop\n", "`prescient doctor`"}, "shop-dashboard.json": {`"uid": "shop"`, `prescient_agents{job=\"shop\", region=\"eu\"}`}}[file.Name] {
			if !strings.Contains(file.Text, want) {
				t.Errorf("no %q in\n%s", want, file.Text)
			}
		}
	}
	if !slices.Equal(names, strings.Fields(got.Out)) || len(names) != 2 {
		t.Errorf("%q; %v", names, got)
	}
}

func TestMonitoringRefusesWhatPrometheusDoesNotTake(t *testing.T) {
	for says, args := range map[string][]string{
		`--label: "shop": want name=value`:                          {"--label", "shop"},
		`--label: invalid: label "a-b": only letters`:               {"--label", "a-b=c"},
		`--label: invalid: label severity: metrics and alerts have`: {"--label", "severity=page"},
		`--label: job is given twice`:                               {"--label", "job=a", "--label", "job=b"},
		`--name: invalid: name "a/b": only letters, digits and _ -`: {"--name", "a/b"},
		`monitoring takes no argument, but was given "systemd"`:     {"systemd"},
		"slots.resolution: resolution not allowed":                  {"--slots-resolution", "7m"},
		"prescient: /dev/null: not a directory":                     {"--dir", "/dev/null"},
	} {
		got := monitoring(t, args...)
		if got.Code == cmd.ExitOK || !strings.Contains(got.Err, says) || got.Out != "" {
			t.Errorf("%q: %v", says, got)
		}
	}
}

// What alerts tell to do are commands that are there.
func TestAlertsNameCommands(t *testing.T) {
	got := monitoring(t)
	got.Wants(t, cmd.ExitOK)
	named := make(map[string]bool)
	for _, found := range regexp.MustCompile("`prescient ([^`]+)`").FindAllStringSubmatch(got.Out, -1) {
		words := strings.Fields(found[1])
		name := words[0]
		if _, is := rig.Uses[strings.Join(words[:min(2, len(words))], " ")]; is {
			name = strings.Join(words[:min(2, len(words))], " ")
		}
		if _, is := rig.Uses[name]; !is {
			t.Errorf("there is no command %s", found[1])
		}
		named[name] = true
	}
	for _, want := range []string{"agents", "attest", "blocking", "doctor", "event set-aside", "forecast", "pause", "resume", "schedule update", "stats"} {
		if !named[want] {
			t.Errorf("no alert names %s; %v", want, named)
		}
	}
}
