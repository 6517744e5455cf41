package look

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Number is a number with commas.
func Number[T ~int | ~int64 | ~uint64](n T) string {
	digits := fmt.Sprint(n)
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Share is a part of a whole, as in 12.5 %.
func Share(part float64) string {
	text := strconv.FormatFloat(100*part, 'f', 1, 64)
	return strings.TrimSuffix(text, ".0") + " %"
}

// Duration is how long something takes, in its two largest units.
func Duration(d time.Duration) string {
	sign := ""
	if d < 0 {
		sign, d = "-", -d
	}
	switch {
	case d < time.Millisecond && d > 0:
		return sign + "under 1 ms"
	case d < time.Second:
		return sign + strconv.FormatInt(d.Milliseconds(), 10) + " ms"
	case d < time.Minute:
		text := strconv.FormatFloat(d.Truncate(100*time.Millisecond).Seconds(), 'f', 1, 64)
		return sign + strings.TrimSuffix(text, ".0") + " s"
	}
	d = d.Truncate(time.Second)
	for _, unit := range []struct {
		is, next        time.Duration
		name, nextNamed string
	}{{24 * time.Hour, time.Hour, "d", "h"}, {time.Hour, time.Minute, "h", "min"}, {time.Minute, time.Second, "min", "s"}} {
		if d < unit.is {
			continue
		}
		text := sign + strconv.FormatInt(int64(d/unit.is), 10) + " " + unit.name
		if rest := d % unit.is / unit.next; rest > 0 {
			text += " " + strconv.FormatInt(int64(rest), 10) + " " + unit.nextNamed
		}
		return text
	}
	return sign + "0 s" // not reached: what is less than a minute is above
}

// Relative is a time as it is seen from now.
func Relative(at, now time.Time) string {
	switch d := at.Sub(now); {
	case d > -time.Second && d < time.Second:
		return "now"
	case d > 0:
		return "in " + Duration(d.Round(time.Second))
	default:
		return Duration(-d.Round(time.Second)) + " ago"
	}
}

// Stamp is a time in UTC for people, with its zone.
func Stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// Counted is a number and what of: 1 check, 2,000 checks.
func Counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Number(n) + " " + many
}
