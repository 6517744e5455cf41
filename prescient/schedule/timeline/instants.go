package timeline

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// every fires at anchor + interval, anchor + 2 × interval and so on, in seconds since the epoch.
type every struct{ anchor, interval int64 }

func (e every) next(p place) (time.Time, bool) {
	n := max(floorDiv(p.at.Unix()-e.anchor, e.interval)+1, 1)
	return time.Unix(e.anchor+n*e.interval, 0).UTC(), true
}

// longest is the longest interval of @every: ten years and a week.
const longest = 3660 * 24 * time.Hour

func readEvery(text string, anchor time.Time) (rule, error) {
	interval, ok := readInterval(text)
	if !ok || interval < time.Second || interval > longest || interval%time.Second != 0 {
		return nil, fmt.Errorf("its interval is %.80q; whole seconds from 1s to 3660d are allowed, such as 90s, 1h30m, 1d12h or 1w", text)
	}
	return every{anchor: anchor.Unix(), interval: int64(interval / time.Second)}, nil
}

// readInterval reads weeks and days, and then what time.ParseDuration does.
func readInterval(text string) (sum time.Duration, ok bool) {
	for _, unit := range []struct {
		name   string
		length time.Duration
	}{{"w", 7 * 24 * time.Hour}, {"d", 24 * time.Hour}} {
		count, rest, found := strings.Cut(text, unit.name)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(count, 10, 12)
		if err != nil {
			return 0, false
		}
		sum += time.Duration(n) * unit.length
		if text = rest; text == "" {
			return sum, true
		}
	}
	if text == "" || strings.ContainsAny(text, "+-") {
		return 0, false
	}
	part, err := time.ParseDuration(text)
	return sum + part, err == nil && part < math.MaxInt64-sum
}

// at fires once.
type at time.Time

func (a at) next(p place) (time.Time, bool) {
	return time.Time(a), time.Time(a).After(p.at)
}

func readAt(text string) (rule, error) {
	const allowed = "seconds since 1970 and RFC 3339 such as 2026-01-01T00:00:00Z are allowed, to the microsecond, in the years 1000 to 9999"
	moment, err := time.Parse(time.RFC3339, strings.ToUpper(text))
	if unix, notUnix := strconv.ParseUint(text, 10, 40); notUnix == nil {
		moment, err = time.Unix(int64(unix), 0), nil
	}
	if err != nil || moment.Nanosecond()%1000 != 0 || moment.Before(earliest) || moment.After(latest) {
		return nil, fmt.Errorf("its time is %.80q; %s", text, allowed)
	}
	// An occurrence has an id by its second.
	if whole := moment.Truncate(time.Second); whole.Before(moment) {
		moment = whole.Add(time.Second)
	}
	return at(moment.UTC()), nil
}
