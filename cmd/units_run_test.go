package cmd_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"prescient/cmd"
)

// runCron runs every line of a crontab once, as cron does: by a shell, in another folder, with the variables of the
// crontab and next to nothing else. What is printed cron would mail.
func (r *rig) runCron(text string) (mailed string) {
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
	eachServer(t, func(r *rig) {
		r.ok("migrate")
		r.ok("insert", "--entity", "order/1", "--exec", "unshipped", "--at", "2026-01-01 00:00")
		folder := r.TempDir()
		r.must(os.WriteFile(filepath.Join(folder, "dsn"), []byte(r.dsn), 0o600))
		// The level of the file is for who runs it by hand.
		configuration := r.configure("log: {level: info}\njobs: {orders: {enabled: true}}\n")
		r.ok("migrate", "--config", configuration)
		lines := exec.CommandContext(r.Context(), program(r.T), "units", "cron", "--config", configuration, "--dsn-file", "dsn", "--table-prefix=", "--binary", program(r.T))
		lines.Dir, lines.Env = folder, []string{"HOME=" + folder}
		text, err := lines.Output()
		r.must(err)
		if mailed := r.runCron(string(text)); mailed != "" {
			r.Errorf("cron mails\n%s\nfor\n%s", mailed, text)
		}
		if n := r.count("SELECT COUNT(*) FROM slot_run"); n == 0 {
			r.Error("nothing was run")
		}
	})
}

func TestUnitsNameWhatTheyLackInTheEnvironment(t *testing.T) {
	env := map[string]string{"PRESCIENT_DSN": none, "SHOP_SECRET": "topsecret"}
	run := func(args ...string) result {
		return execute(t.Context(), cmd.Options{}, env, "", append([]string{"units"}, args...)...)
	}
	run("cron", "--binary", "/opt/prescient").wants(t, cmd.ExitUsage, "cron does not have PRESCIENT_DSN", "dsn_file")
	got := run("systemd", "--binary", "/opt/prescient")
	got.wants(t, cmd.ExitOK)
	if strings.Count(got.out, "\n# It has to say PRESCIENT_DSN=…, and to be readable by root only.\nEnvironmentFile=/etc/default/prescient\n") != 2 {
		t.Errorf("%v", got)
	}
	secret := file(t, "prescient.yaml", "dsn: "+none+"\njobs:\n  http:\n    - exec: check\n      url: http://127.0.0.1:1/\n      secret_env: SHOP_SECRET\n")
	delete(env, "PRESCIENT_DSN")
	run("cron", "--binary", "/opt/prescient", "--config", secret).wants(t, cmd.ExitUsage, "cron does not have SHOP_SECRET", "secret_file")
	got = run("systemd", "--binary", "/opt/prescient", "--config", secret)
	if got.code != cmd.ExitOK || !strings.Contains(got.out, "say SHOP_SECRET=…,") || strings.Contains(got.out, "PRESCIENT_DSN") {
		t.Errorf("%v", got)
	}
	env = nil
	run("cron", "--binary", "/opt/prescient").wants(t, cmd.ExitOK, "no DSN is given here")
}

// A program that was made by go run is gone when its unit is started.
func TestUnitsNameNoProgramOfGoRun(t *testing.T) {
	path := filepath.Join(t.TempDir(), "go-build0123456789", "b001", "exe", "prescient")
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(program(t), path); err != nil {
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
