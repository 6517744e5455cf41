package value

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"time"

	"prescient/slots"
)

// RangeError is the error of a number or a duration that is out of its bounds: its text begins with what was given.
type RangeError struct{ given, allowed string }

func (e *RangeError) Error() string { return e.given + ": " + e.allowed }

// Within refuses a number that is out of its bounds; the greatest of all is for no bound.
func Within(n, least, most int) error {
	if n < least || n > most {
		return &RangeError{strconv.Itoa(n), numbers(least, most)}
	}
	return nil
}

// numbers says which numbers are allowed.
func numbers(least, most int) string {
	if most == math.MaxInt {
		return "positive numbers are allowed"
	}
	return fmt.Sprintf("%d to %d are allowed", least, most)
}

// durations says which durations are allowed.
func durations(least, most time.Duration) string {
	switch {
	case most < math.MaxInt64:
		return fmt.Sprintf("%s to %s are allowed", slots.Short(least), slots.Short(most))
	case least == 0:
		return "0s and positive times are allowed"
	case least > 1:
		return "at least " + slots.Short(least) + " are allowed"
	}
	return "positive times are allowed"
}

// Named is an error of a value with the name of that: limit 0: 1 to 9 are allowed, or limit: "x" is no whole number.
func Named(name string, err error) error {
	var outside *RangeError
	if errors.As(err, &outside) && error(outside) == err {
		return fmt.Errorf("%s %w", name, err)
	}
	return fmt.Errorf("%s: %w", name, err)
}
