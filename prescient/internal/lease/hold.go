package lease

import "time"

// Take takes what nobody has: send claims it in its table, under the token that was seen and a step. The term of what was taken begins when
// Take was asked for it, which is before anything was sent.
func Take(send func(step uint64) error) (asked time.Time, err error) {
	asked = time.Now()
	return asked, send(Step())
}

// Standing is what a renewal has found of something that is held.
type Standing uint8

const (
	// Kept: it is held for another term.
	Kept Standing = iota
	// Waits: somebody's lock was in the way. The term that it has goes on.
	Waits
	// Gone: it is another's by now, or nobody's.
	Gone
)

// Held is something with a term.
type Held interface {
	Renewed(asked time.Time)
	Gone()
}

// Keep renews what is held, together: renew sends what its table needs for that, and says how each stands since.
func Keep[H Held](held []H, renew func() (standing func(H) Standing, err error)) error {
	asked := time.Now()
	standing, err := renew()
	if err != nil {
		return err
	}
	for _, h := range held {
		switch standing(h) {
		case Kept:
			h.Renewed(asked)
		case Gone:
			h.Gone()
		}
	}
	return nil
}
