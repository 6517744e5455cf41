package worker

import (
	"context"
	"testing"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

// A bucket whose claim was done without an answer is run at once: it does not idle until its lease ends, and nobody
// counts a takeover.
func TestABucketIsRunAtOnceWhoseClaimHadNoAnswer(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, key := range []string{"1", "2", "3"} {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: key}, JobExec: "check", DueAt: rig.At("13:15")})
		}
		var h rig.Hooks
		h.OnAnswer(rig.FirstTime("SET takeovers", mysql.ErrInvalidConn))
		var c rig.Calls
		w := r.hookedWorker(rig.At("13:15:01"), &h, rig.Registry("check", c.Count, prescient.Guards{}), Options{})
		ctx, cancel := context.WithTimeout(t.Context(), prescient.DefaultLease/2)
		defer cancel()
		figures, err := w.Run(ctx)
		r.Must(err)
		if figures.Done != 3 || figures.Takeovers != 0 || h.Count("SET takeovers") != 2 {
			t.Errorf("%+v after %d claims; want three rows done under the claim that was repeated", figures, h.Count("SET takeovers"))
		}
		if n := r.Count("SELECT takeovers FROM p_slot_run"); n != 0 {
			t.Errorf("the ledger counts %d takeovers", n)
		}
		c.EachOnce(t, 3)
		r.Balanced()
	})
}
