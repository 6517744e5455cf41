package bucket

import (
	"testing"
)

func TestAReadAsksForWhatThereIsRoomFor(t *testing.T) {
	const mb = 1 << 20
	for _, c := range []struct{ asked, most, rows, size, want int }{
		{10, 1000, 10, 0, 20},
		{800, 1000, 800, 0, 1000},
		{1000, 1000, 1000, mb, 1000},
		{1000, 1000, 8, 8 * mb, 8},
		{8, 1000, 8, 8 * mb, 8},
		{1000, 1000, 3, 9 * mb, 2},
		{2, 1000, 1, 20 * mb, 1},
		{2, 1000, 2, 2 * mb, 4},
		{1, 1, 1, 0, 1},
	} {
		if got := nextLimit(c.asked, c.most, c.rows, c.size); got != c.want {
			t.Errorf("after %d of %d rows, with %d bytes, %d are asked for; want %d", c.rows, c.asked, c.size, got, c.want)
		}
	}
}
