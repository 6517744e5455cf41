package value

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Day is the longest unit.
const Day = 24 * time.Hour

// ParseDuration reads a duration of Go that may begin with whole days of 24 hours: 90s, 1h30m, 30d, 1d12h, -1d12h.
// Days come first, and the sign, which counts for the whole, before them. The units are d, h, m, s, ms, us and ns;
// only 0 goes without one. It is at most 292 years either way. The error quotes the text.
func ParseDuration(text string) (time.Duration, error) {
	unsigned := strings.TrimLeft(text, "+-")
	sign := text[:len(text)-len(unsigned)]
	days, rest, found := strings.Cut(unsigned, "d")
	if !found {
		d, err := time.ParseDuration(text)
		if err != nil {
			return 0, notADuration(text)
		}
		return d, nil
	}
	n, err := strconv.ParseUint(days, 10, 32)
	whole := time.Duration(n) * Day
	if err != nil || len(sign) > 1 || n > uint64(math.MaxInt64/Day) {
		return 0, notADuration(text)
	}
	if rest == "" {
		return signed(sign, whole), nil
	}
	part, err := time.ParseDuration(rest)
	if err != nil || strings.ContainsAny(rest[:1], "+-") || rest == "0" || part > math.MaxInt64-whole {
		return 0, notADuration(text)
	}
	return signed(sign, whole+part), nil
}

func signed(sign string, d time.Duration) time.Duration {
	if sign == "-" {
		return -d
	}
	return d
}

func notADuration(text string) error {
	return fmt.Errorf("%s is no duration; want one such as 90s, 15m, 1h30m, 1d12h or 30d", Quote(text))
}
