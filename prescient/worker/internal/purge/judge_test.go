package purge

import (
	"strings"
	"testing"
	"time"
)

func TestPurgeIsPutOffOnlyWhileTheServerKeepsUp(t *testing.T) {
	t.Parallel()
	quiet := Seen{Behind: 300, Own: 5}
	full := Seen{Behind: MostBehind}
	for _, c := range []struct {
		name   string
		least  *Seen
		now    Seen
		putOff time.Duration
		want   step
		why    string
	}{
		// before the snapshot
		{"nothing is open", nil, quiet, 10 * time.Second, openSnapshot, ""},
		{"somebody's transaction is short", nil, Seen{Oldest: 10 * time.Second}, 10 * time.Second, openSnapshot, ""},
		{"somebody's transaction is long", nil, Seen{Oldest: 11 * time.Second}, 10 * time.Second, endSnapshot, "open for 11s"},
		{"one that began in the second before", nil, Seen{Oldest: time.Second}, time.Millisecond, openSnapshot, ""},
		{"long beside what is asked for", nil, Seen{Oldest: 2 * time.Second}, time.Millisecond, endSnapshot, "open for 2s"},
		{"the list is long", nil, full, 10 * time.Second, openSnapshot, ""},
		{"the list is too long", nil, Seen{Behind: MostBehind + 1}, 10 * time.Second, endSnapshot, "10001 transactions already"},
		{"what the slot had before counts as well", nil, Seen{Behind: MostBehind + 1, Own: MostBehind}, 10 * time.Second, endSnapshot, "already"},
		// while it is open
		{"nobody else commits", &quiet, Seen{Behind: 5300, Own: 5005}, 10 * time.Second, keepSnapshot, ""},
		{"others commit little", &quiet, Seen{Behind: 300 + 5000 + MostOthers, Own: 5005}, 10 * time.Second, keepSnapshot, ""},
		{"others commit much", &quiet, Seen{Behind: 300 + 5000 + MostOthers + 1, Own: 5005}, 10 * time.Second, endSnapshot, "by 1001 transactions of others"},
		{"others commit much, and the slot nothing", &quiet, Seen{Behind: 300 + MostOthers + 1, Own: 5}, 10 * time.Second, endSnapshot, "grown"},
		{"the slot's own commits pass the length to begin with", &full, Seen{Behind: 2 * MostBehind, Own: MostBehind}, 10 * time.Second, keepSnapshot, ""},
		{"the list shrinks", &full, Seen{Behind: 10, Own: 300}, 10 * time.Second, keepSnapshot, ""},
		{"somebody's transaction is still short", &quiet, Seen{Behind: 300, Own: 5, Oldest: 10 * time.Second}, 10 * time.Second, keepSnapshot, ""},
		{"somebody's transaction becomes long", &quiet, Seen{Behind: 300, Own: 5, Oldest: 11 * time.Second}, 10 * time.Second, endSnapshot, "open for 11s"},
	} {
		if got, why := judge(c.least, c.now, c.putOff, MostOthers); got != c.want || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s: %s, %q; want %s, %q", c.name, got, why, c.want, c.why)
		}
	}
}
