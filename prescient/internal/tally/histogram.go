package tally

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// Histogram counts durations by [BucketOf].
type Histogram map[int]uint64

// growth is how much longer the durations of a bucket are than those of the one before.
const growth = 1.05

// lnGrowth is its logarithm, which SQL has as LN(1.05).
var lnGrowth = math.Log(growth)

// BucketOf is the bucket of some milliseconds: 0 for none, and from 1 on one for each 5 %. In SQL it is IF(ms < 1, 0, 1 + FLOOR(LN(ms) / LN(1.05))).
func BucketOf(ms int64) int {
	if ms < 1 {
		return 0
	}
	return 1 + int(math.Log(float64(ms))/lnGrowth)
}

// UpTo is the longest duration of a bucket, in milliseconds: at most 5 % more than any other of it, or 1 ms.
func UpTo(bucket int) int64 {
	if bucket < 1 {
		return 0
	}
	return max(int64(math.Ceil(math.Pow(growth, float64(bucket))))-1, 1)
}

// Add adds the counts of another.
func (h Histogram) Add(other Histogram) {
	for bucket, n := range other {
		h[bucket] += n
	}
}

// Percentile is the duration, in milliseconds, that a share of those that were counted did not exceed: that of the longest in its bucket.
// Zero where nothing was counted.
func (h Histogram) Percentile(share float64) int64 {
	var all uint64
	for _, n := range h {
		all += n
	}
	rank := uint64(math.Ceil(share * float64(all)))
	for _, bucket := range h.buckets() {
		if n := h[bucket]; n < rank {
			rank -= n
			continue
		}
		return UpTo(bucket)
	}
	return 0
}

func (h Histogram) buckets() []int {
	list := make([]int, 0, len(h))
	for bucket := range h {
		list = append(list, bucket)
	}
	slices.Sort(list)
	return list
}

// AppendJSON appends it as the tables have it: {"bucket":count,…}.
func (h Histogram) AppendJSON(b []byte) []byte {
	b = append(b, '{')
	for i, bucket := range h.buckets() {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendInt(append(b, '"'), int64(bucket), 10), '"', ':')
		b = strconv.AppendUint(b, h[bucket], 10)
	}
	return append(b, '}')
}

// Scan reads it from a column.
func (h *Histogram) Scan(from any) error {
	text, ok := from.([]byte)
	if !ok {
		return fmt.Errorf("a histogram is no %T", from)
	}
	*h = make(Histogram)
	return json.Unmarshal(text, h)
}
