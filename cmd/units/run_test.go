package units_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

// runCron runs every line of a crontab once, as cron does: by a shell, in another folder, with the variables of the
// crontab and next to nothing else. What is printed cron would mail.
func runCron(r *rig.Rig, text string) (mailed string) {
	r.Helper()
	env := []string{"HOME=" + r.TempDir(), "PATH=/usr/bin:/bin"}
	ran := 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if name, _, is := strings.Cut(line, "="); is && !strings.Contains(name, " ") {
			env = append(env, line)
			continue
		}
		fields := strings.SplitN(line, " ", 6)
		shell := exec.CommandContext(r.Context(), "/bin/sh", "-c", strings.ReplaceAll(fields[5], `\%`, "%"))
		shell.Env, shell.Dir = env, r.TempDir()
		out, err := shell.CombinedOutput()
		mailed += string(out)
		if err != nil {
			r.Errorf("%s: %v: %s", line, err, out)
		}
		ran++
	}
	if ran < 2 {
		r.Errorf("%d lines ran:\n%s", ran, text)
	}
	return mailed
}

func TestCronMailsNothingWhileAllIsWell(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		r.OK("insert", "--entity", "order/1", "--exec", "unshipped", "--in", "3h") // not at a slot that may come while cron runs
		folder := r.TempDir()
		r.Must(os.WriteFile(filepath.Join(folder, "dsn"), []byte(r.DSN), 0o600))
		// The level of the file is for who runs it by hand.
		configuration := r.Configure("log: {level: info}\njobs: {orders: {enabled: true}}\n")
		r.OK("migrate", "--config", configuration)
		lines := exec.CommandContext(r.Context(), rig.Program(r.T), "units", "cron", "--config", configuration, "--dsn-file", "dsn", "--table-prefix=", "--binary", rig.Program(r.T))
		lines.Dir, lines.Env = folder, []string{"HOME=" + folder}
		text, err := lines.Output()
		r.Must(err)
		if mailed := runCron(r, string(text)); mailed != "" {
			r.Errorf("cron mails\n%s\nfor\n%s", mailed, text)
		}
		if n := r.Count("SELECT COUNT(*) FROM slot_run"); n == 0 {
			r.Error("nothing was run")
		}
	})
}

func TestUnitsNameWhatTheyLackInTheEnvironment(t *testing.T) {
	env := map[string]string{"PRESCIENT_DSN": rig.NoServer, "SHOP_SECRET": "topsecret"}
	run := func(args ...string) rig.Result {
		return rig.Execute(t.Context(), cmd.Options{}, env, "", append([]string{"units"}, args...)...)
	}
	run("cron", "--binary", "/opt/prescient").Wants(t, cmd.ExitUsage, "cron does not have PRESCIENT_DSN", "dsn_file")
	got := run("systemd", "--binary", "/opt/prescient")
	got.Wants(t, cmd.ExitOK)
	if strings.Count(got.Out, "\n# It has to say PRESCIENT_DSN=…, and to be readable by root only.\nEnvironmentFile=/etc/default/prescient\n") != 3 {
		t.Errorf("%v", got)
	}
	secret := rig.File(t, "prescient.yaml", "dsn: "+rig.NoServer+"\njobs:\n  http:\n    - exec: check\n      url: http://127.0.0.1:1/\n      secret_env: SHOP_SECRET\n")
	delete(env, "PRESCIENT_DSN")
	run("cron", "--binary", "/opt/prescient", "--config", secret).Wants(t, cmd.ExitUsage, "cron does not have SHOP_SECRET", "secret_file")
	got = run("systemd", "--binary", "/opt/prescient", "--config", secret)
	if got.Code != cmd.ExitOK || !strings.Contains(got.Out, "say SHOP_SECRET=…,") || strings.Contains(got.Out, "PRESCIENT_DSN") {
		t.Errorf("%v", got)
	}
	env = nil
	run("cron", "--binary", "/opt/prescient").Wants(t, cmd.ExitOK, "no DSN is given here")
}

// A program that was made by go run is gone when its unit is started.
func TestUnitsNameNoProgramOfGoRun(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "go-build0123456789", "b001", "exe", "prescient")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(rig.Program(t), path); err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"cron", "systemd"} {
		command := exec.CommandContext(t.Context(), path, "units", kind)
		command.Env = []string{"HOME=" + t.TempDir()}
		out, err := command.CombinedOutput()
		if err == nil || command.ProcessState.ExitCode() != cmd.ExitUsage || !strings.HasPrefix(string(out), "prescient: give --binary, ") {
			t.Errorf("%s: %v: %s", kind, err, out)
		}
	}
}
