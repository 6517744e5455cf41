package claimer

import (
	"testing"
	"time"
)

// An app's open transaction may be in the way of a run for hours.
func TestAProgramWaitsNoLongerThanALeaseForWhatItCannotClaim(t *testing.T) {
	c, h, _ := looking(t)
	c.Lease = time.Nanosecond
	c.Offered(Run{Key: aRun, Pool: "heavy", JobExec: "export", Token: 7})
	if h.met != 1 {
		t.Fatalf("%d runs were met", h.met)
	}
	claim := Claim{Key: aRun, Pool: "heavy", Token: 7}
	c.answered(claim, Missed)
	if h.met != 1 {
		t.Error("it is forgotten at the first time")
	}
	time.Sleep(time.Millisecond)
	c.answered(claim, Missed)
	if h.met != 0 {
		t.Errorf("%d runs are waited for", h.met)
	}
}
