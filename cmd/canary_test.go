package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

// canary is a password that must not be seen anywhere; each test looks for it in all that it can find.
const canary = "c4n4ry-S1ngs"

// silent fails where a text has the canary in it.
func silent(t *testing.T, where, text string) {
	t.Helper()
	if i := strings.Index(text, canary); i >= 0 {
		t.Errorf("%s: the password is in …%q…", where, text[max(i-80, 0):min(i+80, len(text))])
	}
}

// everyCommand is a line of each command, and of some another one.
func everyCommand() [][]string {
	list := [][]string{{"insert", "--file", "-"}, {"config", "--json"}}
	for name := range rig.Uses {
		list = append(list, rig.LineOf(name))
	}
	return list
}

func TestNoCommandThatFailsShowsThePassword(t *testing.T) {
	t.Parallel()
	secret := filepath.Join(t.TempDir(), "dsn")
	for what, dsn := range map[string]string{
		"nobody listens":       "user:" + canary + "@tcp(127.0.0.1:1)/none",
		"no such host":         "user:" + canary + "@tcp(nowhere.invalid)/none",
		"no such socket":       "user:" + canary + "@unix(/nonexistent/" + "s)/none",
		"a slash is missing":   "user:" + canary + "@tcp(127.0.0.1:1)none",
		"a bracket is missing": "user:" + canary + "@tcp(127.0.0.1:1/none",
		"a network that is no": "user:" + canary + "@" + canary + "(127.0.0.1:1)/none",
		"no user":              ":" + canary + "@/none",
		"a URL":                "mysql://user:" + canary + "@127.0.0.1/none",
		"two lines":            "user:" + canary + "\n@tcp(127.0.0.1:1)/none",
		"a slash in it":        "user:" + canary + "/" + canary + "@tcp(127.0.0.1:1)/none",
		"a wrong parameter":    "user:" + canary + "@tcp(127.0.0.1:1)/none?tls=" + canary,
		"an old parameter":     "user:" + canary + "@tcp(127.0.0.1:1)/none?strict=" + canary,
		"nothing but":          canary,
	} {
		if err := os.WriteFile(secret, []byte(dsn), 0o600); err != nil {
			t.Fatal(err)
		}
		for i, args := range everyCommand() {
			if args[0] == "demo" || args[0] == "work" && strings.Contains(what, "host") {
				continue
			}
			env := map[string]string{"PRESCIENT_LOG_LEVEL": "trace", "PRESCIENT_WORKER_PATIENCE": "1s"}
			if i%2 == 0 { // in whichever order a map gives them: all commands read it by the same function
				env["PRESCIENT_DSN"] = dsn
			} else {
				env["PRESCIENT_DSN_FILE"] = secret
			}
			silent(t, what, rig.Execute(t.Context(), cmd.Options{}, env, "", args...).String())
		}
		for _, args := range [][]string{{"pending", "--dsn", dsn}, {"pending", "--dsn=" + dsn}} {
			got := rig.Execute(t.Context(), cmd.Options{}, nil, "", args...)
			got.Wants(t, cmd.ExitUsage, "dsn")
			silent(t, what, got.Err+got.Out)
		}
	}
	// A flag can be seen by whoever lists the processes.
	rig.Execute(t.Context(), cmd.Options{}, nil, "", "pending", "--dsn", "user:"+canary+"@tcp(127.0.0.1:1)/none").
		Wants(t, cmd.ExitUsage, "PRESCIENT_DSN", "--dsn-file", "command line")
}

func TestNothingThatRunsShowsThePassword(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Variables["PRESCIENT_LOG_LEVEL"] = "trace"
		r.Variables["PRESCIENT_SLOTS_RESOLUTION"] = "1s"
		r.OK("migrate")
		user := "canary" + r.DSN[len(r.DSN)-10:]
		r.Exec("CREATE USER '" + user + "'@'%' IDENTIFIED BY '" + canary + "'")
		r.Cleanup(func() { r.Exec("DROP USER '" + user + "'@'%'") })
		dsn := user + ":" + canary + r.DSN[strings.LastIndex(r.DSN, "@"):]
		env := map[string]string{"PRESCIENT_DSN": dsn, "PRESCIENT_LOG_LEVEL": "trace", "PRESCIENT_SLOTS_RESOLUTION": "1s"}
		run := func(what string) {
			for _, args := range everyCommand() {
				if args[0] != "demo" && args[0] != "work" {
					silent(r.T, what, rig.Execute(r.Context(), cmd.Options{}, env, "", args...).String())
				}
			}
		}
		run("without rights")
		r.Exec("GRANT ALL PRIVILEGES ON " + r.Database() + ".* TO '" + user + "'@'%'")
		run("with all rights")
		env["PRESCIENT_DSN"] = user + ":" + canary + "-wrong" + r.DSN[strings.LastIndex(r.DSN, "@"):]
		run("with a wrong password")

		// A worker, by a file and by a variable, that is asked for all that it can tell, and then for its goroutines.
		file := filepath.Join(r.TempDir(), "dsn")
		r.Must(os.WriteFile(file, []byte(dsn), 0o600))
		for signal, given := range map[syscall.Signal]map[string]string{syscall.SIGQUIT: {"PRESCIENT_DSN": dsn}, syscall.SIGABRT: {"PRESCIENT_DSN_FILE": file}} {
			given["GOTRACEBACK"] = "all" // as in a panic
			p := r.StartBare("a", given, "work", "--listen", "127.0.0.1:0", "--log-level", "trace", "--slots-resolution", "1s")
			url := "http://" + p.Address(r.T)
			p.Says(r.T, `"message":"working"`)
			for _, path := range []string{"/metrics", "/healthz", "/debug/pprof/", "/"} {
				_, text := rig.Get(r.T, url+path)
				silent(r.T, path, text)
			}
			line, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", p.Process.Pid))
			if err == nil {
				silent(r.T, "ps", string(line))
			} else if !os.IsNotExist(err) {
				r.Error(err)
			}
			r.Must(p.Process.Signal(signal))
			p.Ends(r.T, 2)
			if !strings.Contains(p.Err.String(), "goroutine ") {
				r.Errorf("no dump: %s", p.Err.String())
			}
			silent(r.T, "the dump of the goroutines", p.Err.String()+p.Out.String())
		}
	})
}
