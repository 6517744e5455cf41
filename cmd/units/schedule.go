package units

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"prescient/slots"
)

// schedule is the times of day, in seconds, at which something is to be run.
type schedule []int

const secondsPerDay = 24 * 60 * 60

// scheduleOf returns the times of the slots that an assignment serves; fixed is false where they differ from day to day.
// Then all slots are in the schedule, and a run of one that is not assigned ends at once.
func scheduleOf(a slots.Assignment) (s schedule, fixed bool) {
	grid := a.Grid()
	day := time.Unix(0, 0).UTC()
	perDay := int(24 * time.Hour / grid.Resolution())
	fixed = true
	var all schedule
	for n := range perDay {
		slot := grid.Add(grid.Ceil(day), int64(n))
		second := int(slot.Sub(day) / time.Second)
		all = append(all, second)
		// The next day, and one that has any pattern behind it.
		for _, days := range []int{1, 2, 3, 5, 7, 11, 13} {
			if a.Serves(slot) != a.Serves(slot.AddDate(0, 0, days)) {
				fixed = false
			}
		}
		if a.Serves(slot) {
			s = append(s, second)
		}
	}
	if !fixed {
		return all, false
	}
	return s, true
}

// every is the schedule of each so many seconds of the day.
func every(seconds int) (s schedule) {
	for at := 0; at < secondsPerDay; at += seconds {
		s = append(s, at)
	}
	return s
}

// pattern is a set of hours, one of minutes and one of seconds; it means every time that is made of one of each.
type pattern struct{ hours, minutes, seconds []int }

// patterns says a schedule in as few patterns as hours, and minutes in them, are alike.
func (s schedule) patterns() (list []pattern) {
	type hour [60][]int // the seconds of each minute
	var hours [24]hour
	for _, second := range s {
		minutes := &hours[second/3600]
		minutes[second/60%60] = append(minutes[second/60%60], second%60)
	}
	var done [24]bool
	for first := range hours {
		if done[first] {
			continue
		}
		var alike []int
		for h := first; h < len(hours); h++ {
			if !done[h] && slices.EqualFunc(hours[first][:], hours[h][:], slices.Equal[[]int]) {
				alike, done[h] = append(alike, h), true
			}
		}
		var taken [60]bool
		for m, seconds := range hours[first] {
			if taken[m] || len(seconds) == 0 {
				continue
			}
			p := pattern{hours: alike, seconds: seconds}
			for n := m; n < 60; n++ {
				if slices.Equal(seconds, hours[first][n]) {
					p.minutes, taken[n] = append(p.minutes, n), true
				}
			}
			list = append(list, p)
		}
	}
	return list
}

// calendar is the pattern as OnCalendar= of systemd takes it.
func (p pattern) calendar() string {
	return fmt.Sprintf("*-*-* %s:%s:%s UTC", numbers(p.hours, 24, "/", true), numbers(p.minutes, 60, "/", true), numbers(p.seconds, 60, "/", true))
}

// cron is the pattern as a crontab takes it; its seconds are 0.
func (p pattern) cron() string {
	return numbers(p.minutes, 60, "*/", false) + " " + numbers(p.hours, 24, "*/", false) + " * * *"
}

// numbers writes a set of numbers below a limit: as * where it is all of them, by its step where that divides the limit,
// else as a list.
func numbers(set []int, limit int, step string, two bool) string {
	number := func(n int) string {
		if two {
			return fmt.Sprintf("%02d", n)
		}
		return strconv.Itoa(n)
	}
	if len(set) == limit {
		return "*"
	}
	if n := len(set); n > 2 && limit%n == 0 && slices.Equal(set, stepped(set[0], limit/n, limit)) && (set[0] == 0 || step == "/") {
		if step == "/" {
			return number(set[0]) + "/" + strconv.Itoa(limit/n)
		}
		return step + strconv.Itoa(limit/n)
	}
	list := make([]string, len(set))
	for i, n := range set {
		list[i] = number(n)
	}
	return strings.Join(list, ",")
}

func stepped(first, step, limit int) (set []int) {
	for n := first; n < limit; n += step {
		set = append(set, n)
	}
	return set
}
