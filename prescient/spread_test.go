package prescient

import (
	"fmt"
	"testing"
	"time"
)

func TestASpreadIsStableAndEven(t *testing.T) {
	const n, window = 24000, 6 * time.Hour
	var perQuarter [24]int
	for i := range n {
		job := NewJob{Entity: Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "check", DueAt: at("00:00"), Spread: window}
		offset := job.InPlace().DueAt.Sub(at("00:00"))
		if offset < 0 || offset >= window || offset%time.Microsecond != 0 {
			t.Fatalf("order %d is put %s later", i, offset)
		}
		if again := job.InPlace().DueAt.Sub(at("00:00")); again != offset {
			t.Fatalf("order %d is put %s later, then %s", i, offset, again)
		}
		perQuarter[offset/(window/24)]++
	}
	for i, got := range perQuarter {
		if got < 850 || got > 1150 {
			t.Errorf("quarter of an hour %d has %d, want about 1000", i, got)
		}
	}
}

func TestTheChecksOfOneEntityAreSpreadToo(t *testing.T) {
	e := Entity{Name: "order", Key: "42"}
	if spreadOver(KeyOf(e, "a", ""), time.Hour) == spreadOver(KeyOf(e, "b", ""), time.Hour) {
		t.Error("two job_execs of an entity have the same place")
	}
	for _, test := range []struct {
		key    Key
		window time.Duration
		want   time.Duration
	}{
		{Key{}, time.Hour, 0},
		{Key{0: 0xff, 1: 0xff, 2: 0xff, 3: 0xff}, time.Hour, 0},
		{Key{4: 0x80}, time.Hour, 30 * time.Minute},
		{Key{4: 0x80, 12: 0xc0}, time.Hour, 15 * time.Minute},
		{Key{4: 0xff, 5: 0xff, 6: 0xff, 7: 0xff, 8: 0xff, 9: 0xff, 10: 0xff, 11: 0xff}, time.Hour, time.Hour - time.Microsecond},
		{Key{4: 0x80}, 0, 0},
	} {
		if got := spreadOver(test.key, test.window); got != test.want {
			t.Errorf("%s over %s: %s, want %s", test.key, test.window, got, test.want)
		}
	}
}
