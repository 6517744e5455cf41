package advice

import (
	"bytes"
	"encoding/binary"
	"math"
	"time"

	"prescient/prescient"
)

// lastKey is the last that there may be, and behindAll a time behind each at which it ended.
var (
	lastKey   = prescient.Key(bytes.Repeat([]byte{0xff}, 16))
	behindAll = time.Date(9999, time.December, 31, 0, 0, 0, 0, time.UTC)
)

const (
	// aim is how long a statement is to take at most: it reads on a snapshot. Of a short Within it takes a quarter.
	aim = time.Second
	// fewest and farthest are the limits of a page at first and at most, growth by how much it grows from one to the next.
	fewest, farthest = 1000, 64000
	growth           = 4
	// firstRange is the share of keys that is looked at first.
	firstRange = 1.0 / 1024
)

// page is what a statement reads: up to so many rows with keys above the share from, of the share span. What ended too early is in there, and is passed
// over; so the range bounds a statement where the limit doesn't.
type page struct {
	from, span float64
	limit      int
}

var firstPage = page{span: firstRange, limit: fewest}

// to is the last key of the range.
func (p page) to() prescient.Key {
	to := lastKey
	if end := p.from + p.span; end < 1 {
		binary.BigEndian.PutUint64(to[:8], uint64(end*math.MaxUint64))
	}
	return to
}

// next is what is read next where it took so long, and is to take another time. A full page has left some of the range.
func (p page) next(full bool, took, wanted time.Duration) page {
	by := min(max(float64(wanted)/float64(max(took, 1)), 1.0/growth), growth)
	if full {
		p.limit = min(max(int(float64(p.limit)*by), fewest), farthest)
		return p
	}
	p.from += p.span
	p.span *= by
	return p
}

// before is the key before another.
func before(key prescient.Key) prescient.Key {
	for i := len(key) - 1; i >= 0; i-- {
		key[i]--
		if key[i] != 0xff {
			break
		}
	}
	return key
}

// shareOf is the share of keys up to one.
func shareOf(key prescient.Key) float64 {
	if key == lastKey {
		return 1
	}
	return float64(binary.BigEndian.Uint64(key[:8])) / math.MaxUint64
}
