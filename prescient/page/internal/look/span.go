package look

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"prescient/prescient"
)

// Span is a duration of milliseconds as forms have it, exactly: 1h30m, 2d; empty for 0.
func Span(ms int64) string {
	d := time.Duration(ms) * time.Millisecond
	var days string
	if d >= 24*time.Hour {
		days = strconv.FormatInt(int64(d/(24*time.Hour)), 10) + "d"
		d %= 24 * time.Hour
	}
	if d == 0 {
		return days
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return days + text
}

// longestSpan is more than any duration that is asked for.
const longestSpan = 4000 * 24 * time.Hour

// ReadSpan reads what Span writes, and what people do: 90s, 1 h 30 min, 2d. What is empty is 0.
func ReadSpan(what, text string) (ms int64, err error) {
	plain := strings.ReplaceAll(strings.ToLower(strings.Join(strings.Fields(text), "")), "min", "m")
	if plain == "" {
		return 0, nil
	}
	wrong := fmt.Errorf("%w: %s %.40q: a time as in 90s, 1h30m or 2d is allowed", prescient.ErrInvalid, what, text)
	var sum time.Duration
	if days, rest, found := strings.Cut(plain, "d"); found {
		n, err := strconv.ParseUint(days, 10, 12)
		if err != nil {
			return 0, wrong
		}
		sum, plain = time.Duration(n)*24*time.Hour, rest
	}
	if plain != "" {
		part, err := time.ParseDuration(plain)
		if err != nil || part < 0 || part > longestSpan {
			return 0, wrong
		}
		sum += part
	}
	if sum > longestSpan {
		return 0, wrong
	}
	return sum.Milliseconds(), nil
}
