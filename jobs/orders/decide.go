package orders

import "time"

// Level says how urgent an alert is.
type Level string

// The levels.
const (
	Primary   Level = "primary"
	Escalated Level = "escalated"
)

// situation is what a check finds.
type situation struct {
	LookedAt  time.Time  `db:"looked_at"`
	PlacedAt  time.Time  `db:"placed_at"`
	Shipped   bool       `db:"shipped"`
	Primary   *time.Time `db:"primary_slot"`   // of the check that raised it; nil where none did
	Escalated *time.Time `db:"escalated_slot"` // the same
}

// decide says which alert the check of a slot is to raise, if any, and when the next check is to be, if any. It decides
// by the slot, not by what time it is now, so a second call for the same slot decides as the first did.
func (o *Options) decide(s situation, slot time.Time) (raise Level, next *time.Time) {
	alertAt, escalateAt := s.PlacedAt.Add(o.PrimaryAfter), s.PlacedAt.Add(o.EscalateAfter)
	if afterThis := slot.Add(time.Microsecond); escalateAt.Before(afterThis) {
		escalateAt = afterThis // late: at the next slot that is open, never at one with the alert before it
	}
	switch {
	case s.Shipped || s.Escalated != nil:
		return "", nil
	case s.Primary == nil && slot.Before(alertAt): // somebody moved the check
		return "", &alertAt
	case s.Primary == nil:
		return Primary, &escalateAt
	case s.Primary.Before(slot) && !slot.Before(s.PlacedAt.Add(o.EscalateAfter)):
		return Escalated, nil
	default: // the alert is this slot's, from an earlier call, or the time to escalate is yet to come
		return "", &escalateAt
	}
}
