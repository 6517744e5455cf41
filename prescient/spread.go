package prescient

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"time"
)

// spreadOver returns the place of a job_key in a length of time. A key always has the same place, and the places of many keys
// are even. Bytes 4 to 11 of the key, the first four of them XOR the last four of the key, are a number (big-endian) that is
// to 2⁶⁴ as the place is to the length. The first bytes play no part: buckets are ranges of them, and the rows of a slot have
// to stay even over its buckets.
func spreadOver(key Key, length time.Duration) time.Duration {
	hash := binary.BigEndian.Uint64(key[4:12]) ^ uint64(binary.BigEndian.Uint32(key[12:]))<<32
	place, _ := bits.Mul64(hash, uint64(max(length, 0)))
	return time.Duration(place).Truncate(time.Microsecond)
}

// InPlace returns the check as it is inserted: due at its place in the time that Spread gives.
func (j NewJob) InPlace() NewJob {
	if j.Spread > 0 {
		j.DueAt = j.DueAt.Add(spreadOver(KeyOf(j.Entity, j.JobExec, j.Tag), j.Spread))
		j.Spread = 0
	}
	return j
}

// ValidSpread returns an error that wraps ErrInvalid for a spread that no check may have, and says which one may have.
func ValidSpread(length time.Duration) error {
	if length < 0 || length > MaxHorizon {
		return fmt.Errorf("%w: spread %s: 0 to %s are allowed", ErrInvalid, length, MaxHorizon)
	}
	return nil
}
