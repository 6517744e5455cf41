package serve_test

import (
	"context"
	"net"
	"strings"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

// saysOnce wants one line at error level in the log, and the reason on stderr for people as well.
func saysOnce(t *testing.T, got rig.Result, code int, message, reason string) {
	t.Helper()
	got.Wants(t, code, `"level":"error"`, `"message":"`+message+`"`, reason)
	errors, people := 0, 0
	for line := range strings.Lines(got.Err) {
		switch {
		case strings.Contains(line, `"level":"error"`) && strings.Contains(line, reason):
			errors++
		case strings.HasPrefix(line, "prescient: ") && strings.Contains(line, reason):
			people++
		}
	}
	if errors != 1 || people != 1 {
		t.Errorf("%d lines of the log and %d for people say why: %s", errors, people, got.Err)
	}
}

// In a log for people the reason stands once, whole, in the last line; before it stands when it was, and the exit code.
func TestWhatAServiceFailsWithIsSaidOnceToPeople(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		for _, name := range []string{"run", "work", "sweep"} {
			got := r.Execute(name, "--log-format", "console")
			got.Wants(r.T, cmd.ExitTables, " ERR "+name+" failed exit_code=4\nprescient: ")
			if strings.Count(got.Err, "Run `prescient migrate`") != 1 || strings.Contains(got.Err, "error=") {
				r.Errorf("%v", got)
			}
		}
	})
}

// What is stopped while it begins has nothing in hand, and ends as it does at work.
func TestACommandThatIsStoppedWhileItBeginsEndsWell(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.Variables["PRESCIENT_CONFIG"] = r.Configure("events:\n  routes:\n  - topics: orders.*\n    url: http://127.0.0.1:1/\n")
		stopped, stop := context.WithCancel(t.Context())
		stop()
		for _, name := range []string{"run", "work", "sweep", "forward", "roll-forward"} {
			got := rig.Execute(stopped, r.Options, r.EnvironmentOf([]string{name}), "", name)
			if got.Wants(r.T, cmd.ExitOK); got.Err != "" {
				r.Errorf("%s says %s", name, got.Err)
			}
		}
	})
}

// Whoever reads the log of a service finds there why it is no more.
func TestWhatAServiceFailsWithIsInItsLog(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		for _, name := range []string{"run", "work", "sweep"} {
			saysOnce(r.T, r.Execute(name), cmd.ExitTables, name+" failed", "Run `prescient migrate`")
		}
		closed, err := net.Listen("tcp", "127.0.0.1:0")
		r.Must(err)
		address := closed.Addr().String()
		r.Must(closed.Close())
		saysOnce(r.T, r.Execute("work", "--dsn", "u@tcp("+address+")/d"), cmd.ExitDatabase, "work failed", "connection refused")

		r.Variables["PRESCIENT_SLOTS_RESOLUTION"] = "1s"
		r.OK("migrate")
		address, err = taken(r.T)
		r.Must(err)
		saysOnce(r.T, r.Execute("work", "--listen", address), cmd.ExitFailure, "work failed", "address already in use")
		for _, name := range []string{"run", "sweep"} {
			r.OK(name)
		}
		ctx, cancel := context.WithTimeout(r.Context(), 30*time.Second)
		defer cancel()
		done := make(chan rig.Result)
		go func() {
			done <- rig.Execute(ctx, r.Options, r.EnvironmentOf([]string{"work"}), "", "work", "--log-level", "debug")
		}()
		rig.Eventually(r.T, "it serves slots", func() bool { return r.Count("SELECT COUNT(*) FROM slot_run") > 1 })
		_, err = r.DB.Exec("UPDATE slot_config SET version = version + 1")
		r.Must(err)
		saysOnce(r.T, <-done, cmd.ExitTables, "work failed", "slot_config has changed")
	})
}

// taken is an address where somebody listens already.
func taken(t *testing.T) (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener.Addr().String(), nil
}
