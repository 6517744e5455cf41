package worker

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

// Whose a lock is that keeps a row from being run stands in the log, where the account may see it; else what helps.
func TestTheLogNamesTheConnectionThatHoldsARow(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.Sessions)
		r.Needs(t, rig.ThreadStates)
		r.Insert(rig.At("13:00"), prescient.NewJob{Entity: rig.Order("9"), JobExec: "check", DueAt: rig.At("13:15")})
		holder, id := r.Hold("DELETE FROM p_future_job")
		settled := rig.Registry("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		run := func(clock, want string) {
			t.Helper()
			var log lines
			w := r.worker(rig.At(clock), settled, Options{Times: Times{Lease: 2 * time.Second}, Log: zerolog.New(&log).Level(zerolog.InfoLevel)})
			_, err := w.Run(t.Context())
			r.Must(err)
			if text := log.all(); !strings.Contains(text, want) || !strings.Contains(text, "The sweeper tries again.") {
				t.Errorf("the log says %s; want %s", text, want)
			}
		}
		run("13:15:01", "order/9 was not run: an open transaction holds its row, or what its call needs; to see whose transaction that is, GRANT PROCESS ON *.* TO '"+r.User("worker"))
		for _, right := range []string{"PROCESS ON *.*", "SELECT ON performance_schema.*"} {
			r.Exec("GRANT " + right + " TO '" + r.User("worker") + "'@'%'")
		}
		run("13:15:02", fmt.Sprintf("order/9 was not run: connection %d holds its row. The sweeper tries again.", id))
		_, err := holder.ExecContext(t.Context(), "ROLLBACK")
		r.Must(err)
		r.runAt(rig.At("13:15:03"), settled, Options{})
		if n := len(r.History()); n != 1 {
			t.Errorf("%d rows ended", n)
		}
	})
}
