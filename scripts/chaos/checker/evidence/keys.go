package evidence

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/bits"
	"strings"
)

// Keys are where the keys of rows lie, by their first 8 bytes: anywhere, which is the zero value, or in the range of a shard of Vitess.
type Keys struct {
	First, Span uint64 // a span of 0 is 2^64
}

// KeysOf is the range of a shard, such as -80 and 40-80.
func KeysOf(shard string) (Keys, error) {
	from, to, is := strings.Cut(shard, "-")
	first, err := keyspaceID(from)
	beyond, errTo := keyspaceID(to) // 0 where it is empty
	if !is || err != nil || errTo != nil {
		return Keys{}, fmt.Errorf("%q is no range of keys", shard)
	}
	return Keys{first, beyond - first}, nil
}

func keyspaceID(text string) (uint64, error) {
	var id [8]byte
	part, err := hex.DecodeString(text)
	copy(id[:], part)
	return binary.BigEndian.Uint64(id[:]), err
}

// PlaceOf is where the keys of an entity lie.
func PlaceOf(entity, key string) uint64 {
	sum := sha256.Sum256([]byte(entity + "\x00" + key))
	return binary.BigEndian.Uint64(sum[:8])
}

// Have says whether a place is among them.
func (k Keys) Have(place uint64) bool { return k.Span == 0 || place-k.First < k.Span }

// Bucket is which of some buckets a place is in, that divide them evenly.
func (k Keys) Bucket(place uint64, buckets int) int {
	high, low := bits.Mul64(place-k.First, uint64(max(buckets, 1)))
	if k.Span == 0 {
		return int(high)
	}
	if !k.Have(place) {
		return -1
	}
	bucket, _ := bits.Div64(high, low, k.Span)
	return int(bucket)
}
