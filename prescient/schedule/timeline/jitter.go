package timeline

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"time"
)

// Jitter returns how much later than its occurrence something is due, so that what fires together is spread: at least 0 and
// less than the bound, in whole microseconds; 0 for a bound that is not positive. A key always has the same jitter within a
// bound, in every release and on every machine, and those of many keys are even. To have one for each occurrence, put its
// time into the key.
func Jitter(key string, bound time.Duration) time.Duration {
	hash := sha256.Sum256([]byte(key))
	place, _ := bits.Mul64(binary.BigEndian.Uint64(hash[:]), uint64(max(bound, 0)))
	return time.Duration(place).Truncate(time.Microsecond)
}
