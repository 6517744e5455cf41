package forward_test

import (
	"testing"
	"time"

	"prescient/prescient/event/forward"
)

// The clock of the server was set back by hours, and who had shards before that is dead: nobody waits for those hours to pass.
func TestALeaseThatEndsFurtherAheadThanAnyCanHoldsNothingUp(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Exec("UPDATE p_event_shard SET forwarder = 'dead', token = token + 1, allocated_until = UTC_TIMESTAMP(6) + INTERVAL 3 HOUR")
		r.Exec("INSERT INTO p_event_forwarder (name, seen_until) VALUES ('dead', UTC_TIMESTAMP(6) + INTERVAL 3 HOUR), ('dead too', '9999-12-31')")
		for _, key := range []string{"a", "b", "c", "d", "e", "f", "g", "h"} { // in several shards
			r.publishes("t", key, key)
		}
		stop := r.start(forward.Options{Lease: 3 * time.Second})
		r.untilEmpty()
		stop()
		if n := r.Count("SELECT COUNT(*) FROM p_event_forwarder"); n != 0 {
			t.Errorf("%d forwarders are there; all are gone", n)
		}
	})
}
