package ledger

import (
	"testing"
)

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
		if got := bucketsFor(test.rows, test.batch, test.parallel); got != test.want {
			t.Errorf("%d rows, %d in flight, %d at a time: %d buckets; want %d", test.rows, test.batch, test.parallel, got, test.want)
		}
	}
}
