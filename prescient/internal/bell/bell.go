// Package bell wakes a goroutine that waits for something to do.
package bell

// Bell is received from by who waits. Rung several times before that it wakes it once.
type Bell chan struct{}

// New returns a bell that was not rung.
func New() Bell { return make(Bell, 1) }

// Ring wakes who waits, or else who is to wait next.
func (b Bell) Ring() {
	select {
	case b <- struct{}{}:
	default:
	}
}
