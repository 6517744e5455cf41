package worker

import (
	"bytes"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/ledger"
	"prescient/slots"
)

var (
	firstKey = prescient.Key{}
	lastKey  = func() (k prescient.Key) {
		for i := range k {
			k[i] = 0xff
		}
		return k
	}()
)

func compareKeys(a, b prescient.Key) int { return bytes.Compare(a[:], b[:]) }

func TestBucketsTogetherHoldEveryKeyExactlyOnce(t *testing.T) {
	numbers := []int{257, 300, 1000, 4096, 65535}
	for n := 1; n <= ledger.MaxBuckets; n++ {
		numbers = append(numbers, n)
	}
	for _, buckets := range numbers {
		expected := new(big.Int).Div(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(int64(buckets)))
		slack := new(big.Int).Lsh(big.NewInt(2), 64) // starts are rounded to the first 8 bytes
		next := firstKey
		for bucket := range buckets {
			first, last := store.BucketRange(bucket, buckets)
			if first != next || compareKeys(first, last) > 0 {
				t.Fatalf("bucket %d of %d is %s to %s; want it to begin at %s", bucket, buckets, first, last, next)
			}
			size := new(big.Int).Sub(number(last), number(first))
			if off := new(big.Int).Sub(size, expected); off.CmpAbs(slack) > 0 {
				t.Fatalf("bucket %d of %d holds %s keys; want about %s", bucket, buckets, size, expected)
			}
			var more bool
			if next, more = last.Next(); more != (bucket < buckets-1) {
				t.Fatalf("bucket %d of %d ends at %s", bucket, buckets, last)
			}
		}
	}
}

func number(k prescient.Key) *big.Int { return new(big.Int).SetBytes(k[:]) }

func TestKeysAtTheEdgesOfBucketsBelongToOneOfThem(t *testing.T) {
	for _, buckets := range []int{1, 2, 3, 7, 10, 255, 256} {
		keys := []prescient.Key{firstKey, lastKey, {7: 1}, {8: 1}, {15: 1}, {0: 0x7f, 1: 0xff}, {0: 0x80}}
		for range 200 {
			var k prescient.Key
			for i := range k {
				k[i] = byte(rand.Uint32())
			}
			keys = append(keys, k)
		}
		for bucket := range buckets {
			first, last := store.BucketRange(bucket, buckets)
			after, _ := last.Next()
			keys = append(keys, first, last, after)
		}
		for _, k := range keys {
			in := 0
			for bucket := range buckets {
				if first, last := store.BucketRange(bucket, buckets); compareKeys(first, k) <= 0 && compareKeys(k, last) <= 0 {
					in++
				}
			}
			if in != 1 {
				t.Errorf("key %s is in %d of %d buckets", k, in, buckets)
			}
		}
	}
}

func TestTheNextKeyIsOneMore(t *testing.T) {
	for _, test := range []struct{ from, want prescient.Key }{
		{firstKey, prescient.Key{15: 1}},
		{prescient.Key{15: 0xfe}, prescient.Key{15: 0xff}},
		{prescient.Key{15: 0xff}, prescient.Key{14: 1}},
		{prescient.Key{0: 1, 14: 0xff, 15: 0xff}, prescient.Key{0: 1, 13: 1}},
		{prescient.Key{7: 0xff, 8: 0xff, 9: 0xff, 10: 0xff, 11: 0xff, 12: 0xff, 13: 0xff, 14: 0xff, 15: 0xff}, prescient.Key{6: 1}},
	} {
		before := test.from
		if got, ok := test.from.Next(); !ok || got != test.want || test.from != before {
			t.Errorf("after %s comes %s, %v; want %s", before, got, ok, test.want)
		}
	}
	if after, ok := lastKey.Next(); ok {
		t.Errorf("after the last key comes %s", after)
	}
}

func TestTenRowsAreOneBucketAndAMillionAreMany(t *testing.T) {
	for _, test := range []struct{ rows, batch, parallel, want int }{
		// one for every batch
		{0, 2000, 1, 1}, {1, 2000, 1, 1}, {10, 2000, 1, 1}, {4000, 4000, 1, 1}, {7999, 4000, 1, 1}, {8000, 4000, 1, 2}, {100_000, 4000, 1, 25},
		{1_000_000, 4000, 1, 250}, {1_024_000, 4000, 1, 256}, {1_000_000_000, 4000, 1, 256}, {8, 4, 1, 2}, {10_000, 4, 1, 256}, {20_000, 20_000, 1, 1},
		// a multiple of those that are worked on at a time
		{16_000, 4000, 4, 4}, {31_999, 4000, 4, 4}, {32_000, 4000, 4, 8}, {100_000, 4000, 4, 24}, {1_000_000_000, 4000, 3, 255},
		// as many as that where an eighth of a batch is in each
		{999, 4000, 4, 1}, {1000, 4000, 4, 2}, {1500, 4000, 4, 3}, {2000, 4000, 4, 4}, {12_000, 4000, 4, 4}, {3, 1, 4, 3}, {12_000, 4000, 300, 24},
		{1_000_000, 4, 300, 256}, {1_000_000, 4000, 300, 256},
	} {
		if got := ledger.BucketsFor(test.rows, test.batch, test.parallel); got != test.want {
			t.Errorf("%d rows, %d in flight, %d at a time: %d buckets; want %d", test.rows, test.batch, test.parallel, got, test.want)
		}
	}
}

func TestTheLedgerTellsWhatIsToBeHadAndWhen(t *testing.T) {
	free := ledger.Row{}
	lapsed := ledger.Row{Allocated: true}
	finished := ledger.Row{Finished: true}
	held := func(d time.Duration) ledger.Row { return ledger.Row{Allocated: true, LivesFor: d} }
	for _, test := range []struct {
		name string
		list []ledger.Row
		held int
		next prospect
	}{
		{"nothing", nil, 0, prospect{}},
		{"all finished", []ledger.Row{finished, finished}, 0, prospect{}},
		{"free and lapsed ones", []ledger.Row{free, lapsed, finished}, 0, prospect{free: 2}},
		{"held by others", []ledger.Row{held(time.Minute), held(time.Second), held(time.Hour), finished}, 3, prospect{lapses: time.Second}},
		{"some of each", []ledger.Row{held(time.Minute), free, finished}, 1, prospect{free: 1, lapses: time.Minute}},
	} {
		if held, next := outlook(test.list); held != test.held || next != test.next {
			t.Errorf("%s: %d held, %+v; want %d, %+v", test.name, held, next, test.held, test.next)
		}
	}
	for row, want := range map[*ledger.Row]bool{&free: true, &lapsed: true, &finished: false, {Allocated: true, LivesFor: 1}: false} {
		if row.Free() != want {
			t.Errorf("%+v free: %v", *row, !want)
		}
	}
}

// A timer may fire a moment early: within 2 s of the next boundary, or a tenth of the resolution where that is less, the
// next slot is meant.
func TestAMomentBeforeTheBoundaryTheNextSlotIsMeant(t *testing.T) {
	for _, test := range []struct {
		resolution time.Duration
		now, slot  string
	}{
		{15 * time.Minute, "13:15", "13:15"},
		{15 * time.Minute, "13:15:00.000001", "13:15"},
		{15 * time.Minute, "13:20", "13:15"},
		{15 * time.Minute, "13:29:57.999999", "13:15"},
		{15 * time.Minute, "13:29:58", "13:30"},
		{15 * time.Minute, "13:29:59.999999", "13:30"},
		{24 * time.Hour, "23:59:57.999999", "00:00"},
		{time.Minute, "13:15:57.999999", "13:15"},
		{time.Minute, "13:15:58", "13:16"},
		{10 * time.Second, "13:15:08.999999", "13:15"},
		{10 * time.Second, "13:15:09", "13:15:10"},
		{time.Second, "13:15:00.899999", "13:15"},
		{time.Second, "13:15:00.9", "13:15:01"},
		{20 * time.Second, "13:15:17.999999", "13:15"},
		{20 * time.Second, "13:15:18", "13:15:20"},
	} {
		if got := slotNow(rig.GridOf(t, test.resolution), rig.At(test.now)); !got.Equal(rig.At(test.slot)) {
			t.Errorf("%s slots, at %s: %s is meant; want %s", test.resolution, test.now, got, test.slot)
		}
	}
	if got := slotNow(rig.GridOf(t, 24*time.Hour), rig.At("23:59:59")); !got.Equal(rig.Day.Add(24 * time.Hour)) {
		t.Errorf("a second before midnight %s is meant", got)
	}
}

// The sweeper leaves the current slot alone, and one that is only just over, so that a late timer keeps its own.
func TestTheSweeperTakesSlotsBeforeTheCurrentOneAndOlderThanTheGrace(t *testing.T) {
	const grace = 10 * time.Second
	for _, test := range []struct {
		resolution time.Duration
		now        string
		takes      string // the last slot that is swept
	}{
		{15 * time.Minute, "13:15", "13:00"},
		{15 * time.Minute, "13:15:09.999999", "13:00"},
		{15 * time.Minute, "13:29:59.999999", "13:00"},
		{time.Second, "13:15:30", "13:15:19"}, // older than the grace, not as old
		{time.Second, "13:15:30.5", "13:15:20"},
		{5 * time.Second, "13:15:30", "13:15:15"},
		{5 * time.Second, "13:15:30.000001", "13:15:20"},
		{10 * time.Second, "13:15:30", "13:15:10"},
		{10 * time.Second, "13:15:39.999999", "13:15:20"},
		{20 * time.Second, "13:15:40", "13:15:20"},
	} {
		grid := rig.GridOf(t, test.resolution)
		if got := grid.Prev(slots.OverdueBefore(grid, rig.At(test.now), grace)); !got.Equal(rig.At(test.takes)) {
			t.Errorf("%s slots, at %s: up to %s is swept; want %s", test.resolution, test.now, got, test.takes)
		}
	}
}
