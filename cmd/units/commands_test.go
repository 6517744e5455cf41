package units_test

import (
	"net/http"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/ops/door"
)

// What units write are commands that are there.
func TestUnitsNameCommands(t *testing.T) {
	seen := 0
	for _, args := range [][]string{{"systemd"}, {"systemd", "--work"}, {"cron"}} {
		for _, text := range texts(t, args...) {
			for line := range strings.Lines(text) {
				if _, rest, is := strings.Cut(line, "/opt/prescient "); is {
					seen++
					if command := strings.Fields(rest)[0]; rig.Uses[command].Role != "worker" && command != "prune" && command != "forward" && command != "notify" {
						t.Errorf("%q has the command %s", line, command)
					}
				}
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d lines with a command", seen)
	}
}

func TestServeHasAUnitOfItsOwn(t *testing.T) {
	options := cmd.Options{Serve: func(door.Serving) http.Handler { return nil }}
	run := func(env map[string]string, args ...string) string {
		got := rig.Execute(t.Context(), options, env, "", append([]string{"units", "systemd", "--binary", "/opt/prescient"}, args...)...)
		got.Wants(t, cmd.ExitOK)
		return got.Out
	}
	env := map[string]string{"PRESCIENT_DSN": rig.NoServer, "PRESCIENT_SERVE_DSN_DOOR": rig.NoServer}
	units := run(env, "--serve", "--work", "--keep", "", "--serve-address", "127.0.0.1:81")
	_, unit, is := strings.Cut(units, "# prescient-serve.service\n")
	for _, want := range []string{"ExecStart=/opt/prescient serve --serve-address 127.0.0.1:81\n", "Type=notify\n", "It has to say PRESCIENT_DSN=…, PRESCIENT_SERVE_DSN_DOOR=…,", "WantedBy=multi-user.target\n", "\nEnvironmentFile=/etc/default/prescient-serve\n"} {
		if !is || !strings.Contains(unit, want) {
			t.Errorf("no %q in\n%s", want, units)
		}
	}
	if strings.Contains(units, "topsecret") || strings.Count(units, "PRESCIENT_SERVE_DSN_DOOR") != 1 || strings.Count(units, "/etc/default/prescient-serve\n") != 1 || strings.Contains(unit, "/etc/default/prescient\n") {
		t.Error(units)
	}
	if units := run(env); strings.Contains(units, "serve.service") {
		t.Error(units)
	}
	rig.Execute(t.Context(), options, env, "", "units", "cron", "--serve").Wants(t, cmd.ExitUsage, "unknown flag")
}
