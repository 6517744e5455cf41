package serve_test

import (
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

// A timer's process makes the forecast after it has said what it did, and waits for it for a few seconds only.
func TestTimersDoNotWaitForTheForecast(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Variables["PRESCIENT_CONFIG"] = r.Configure("jobs: {command: [{exec: report, run: [/bin/true]}]}\n")
		r.Begin()
		r.At("13:15:01")
		conn, err := r.DB.Conn(r.Context())
		r.Must(err)
		defer conn.Close()
		_, err = conn.ExecContext(r.Context(), "LOCK TABLES forecast WRITE")
		r.Must(err)
		defer func() {
			_, err := conn.ExecContext(r.Context(), "UNLOCK TABLES")
			r.Must(err)
		}()
		const failed = "the forecast could not be made"
		if got := r.Watch(`"slot"`, 1, "run", "--json"); !strings.Contains(got.Out, `"slot"`) || strings.Contains(got.Err, failed) {
			r.Errorf("it has waited before it printed: %s\n%s", got.Out, got.Err)
		}
		for _, command := range []string{"run", "sweep"} {
			r.Exec("UPDATE duty SET allocated_until = NULL WHERE name = 'forecast'") // whose lease does not lapse while the clock stands still
			r.Execute(command).Wants(r.T, cmd.ExitOK, failed, "deadline exceeded")
		}
	})
}
