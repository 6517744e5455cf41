package store

import (
	"encoding/binary"

	"prescient/prescient"
)

// BucketRange returns the first and last job_key of a bucket. The buckets divide the keys evenly by their first 8
// bytes; together they hold every key exactly once.
func BucketRange(bucket, buckets int) (first, last prescient.Key) {
	low := bucketStart(bucket, buckets)
	binary.BigEndian.PutUint64(first[:], low)
	for i := range last {
		last[i] = 0xff
	}
	if bucket < buckets-1 {
		binary.BigEndian.PutUint64(last[:], bucketStart(bucket+1, buckets)-1)
	}
	return first, last
}

func bucketStart(bucket, buckets int) uint64 {
	if bucket == 0 {
		return 0
	}
	// bucket * 2^64 / buckets, without the overflow.
	const whole = ^uint64(0)
	b, n := uint64(bucket), uint64(buckets)
	return whole/n*b + (whole%n+1)*b/n
}
