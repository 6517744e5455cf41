package store

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"strings"

	"prescient/prescient"
)

// Keys are where the keys of a server's rows lie, by their first 8 bytes: anywhere, which is the zero value, or in the range of a shard of Vitess.
type Keys struct {
	first, span uint64 // a span of 0 is 2^64
}

// KeysOf is where those lie of what a session of Vitess is targeted at: shop:-80, shop/40-80 or shop[c0-]; anywhere where it names no range.
func KeysOf(target string) Keys {
	_, shard := Target(target)
	from, to, is := strings.Cut(shard, "-")
	first, err := keyspaceID(from)
	beyond, errTo := keyspaceID(to) // 0 where it is empty
	if !is || err != nil || errTo != nil {
		return Keys{}
	}
	return Keys{first, beyond - first}
}

// Target divides what a session of Vitess is targeted at, such as shop:-80, shop/-80, shop[-80] or shop@replica, into a keyspace and a shard, which may
// be empty.
func Target(target string) (keyspace, shard string) {
	target, _, _ = strings.Cut(target, "@")
	at := strings.IndexAny(target, ":/[")
	if at < 0 {
		return target, ""
	}
	return target[:at], strings.TrimSuffix(target[at+1:], "]")
}

// keyspaceID reads the beginning of one, such as 40.
func keyspaceID(text string) (uint64, error) {
	var id [8]byte
	part, err := hex.DecodeString(text)
	copy(id[:], part)
	return binary.BigEndian.Uint64(id[:]), err
}

// Bucket returns the first and last job_key of a bucket. The buckets divide the range of the keys evenly by their first 8 bytes; the first and the last
// also have what lies outside of it by mistake: together they hold every key exactly once. Of buckets that divide all keys a shard would have rows in few.
func (k Keys) Bucket(bucket, buckets int) (first, last prescient.Key) {
	if bucket > 0 {
		binary.BigEndian.PutUint64(first[:], k.start(bucket, buckets))
	}
	for i := range last {
		last[i] = 0xff
	}
	if bucket < buckets-1 {
		binary.BigEndian.PutUint64(last[:], k.start(bucket+1, buckets)-1)
	}
	return first, last
}

// start is where a bucket other than the first begins: bucket * span / buckets behind the first key.
func (k Keys) start(bucket, buckets int) uint64 {
	high, low := bits.Mul64(uint64(bucket), k.span)
	if k.span == 0 {
		high = uint64(bucket)
	}
	part, _ := bits.Div64(high, low, uint64(buckets))
	return k.first + part
}

// BucketRange is Bucket of keys that lie anywhere.
func BucketRange(bucket, buckets int) (first, last prescient.Key) {
	return Keys{}.Bucket(bucket, buckets)
}
