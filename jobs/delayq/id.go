package delayq

import (
	"crypto/rand"
	"encoding/binary"
	"fmt"
	"time"
)

// newID returns a UUID of version 7: the time in milliseconds, 12 bits of what is below that, and 62 random bits.
func newID(now time.Time) string {
	ns := uint64(now.UnixNano())
	const ms = uint64(time.Millisecond)
	var b [16]byte
	binary.BigEndian.PutUint64(b[:], ns/ms<<16|0x7000|ns%ms<<12/ms)
	_, _ = rand.Read(b[8:]) // it never fails
	b[8] = b[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}
