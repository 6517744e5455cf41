package timeline

import (
	"math/bits"
	"time"

	cron "github.com/netresearch/go-cron"
)

const (
	secondsOfDay = 24 * 60 * 60
	allHours     = 1<<24 - 1
	allMonths    = 1<<13 - 2
	allWeekdays  = 1<<7 - 1

	// monthsAhead is how far a match is searched for. What fires at all does so within 40 years: a fifth Monday of February
	// in 2072 is followed by one in 2112.
	monthsAhead = 41*12 + 1
)

// wall is a local time: what a clock on the wall shows, as the seconds since it showed midnight of 1 January 1970. Each of
// its days has 24 hours.
type wall int64

// calendar is the local times that the fields of a crontab match, as sets of bits.
type calendar struct {
	seconds, minutes, hours, months uint64
	monthDays, weekdays             uint64
	ofMonth                         []cron.DomConstraint // L and W
	ofWeek                          []cron.DowConstraint // #
	eitherDay                       bool                 // both kinds of days restrict: one of them is enough
}

// starred is the bit by which go-cron marks a field that does not restrict.
const starred = 1 << 63

func newCalendar(s *cron.SpecSchedule) calendar {
	return calendar{
		seconds: s.Second &^ starred, minutes: s.Minute &^ starred, hours: s.Hour & allHours, months: s.Month & allMonths,
		monthDays: s.Dom &^ starred, weekdays: s.Dow & allWeekdays, ofMonth: s.DomConstraints, ofWeek: s.DowConstraints,
		eitherDay: s.DowOrDom && (s.Dom|s.Dow)&starred == 0,
	}
}

// hourly reports whether the crontab is for every hour of a day.
func (c *calendar) hourly() bool { return c.hours == allHours }

// next is the first local time strictly after w that matches; false where none does for 40 years.
func (c *calendar) next(w wall) (wall, bool) {
	w++
	day := floorDiv(int64(w), secondsOfDay)
	if second, ok := c.clock(int(int64(w) - day*secondsOfDay)); ok {
		if first, ok := c.day(day); ok && first == day {
			return wall(day*secondsOfDay + int64(second)), true
		}
	}
	second, _ := c.clock(0)
	day, ok := c.day(day + 1)
	return wall(day*secondsOfDay + int64(second)), ok
}

// clock is the first second of a day, from this one on, at which hour, minute and second match.
func (c *calendar) clock(from int) (int, bool) {
	h, m, s := from/3600, from/60%60, from%60
	if s = from1(c.seconds, s); s == none {
		m++
	}
	minute := from1(c.minutes, m)
	if minute == none {
		h++
	}
	hour := from1(c.hours, h)
	switch first := bits.TrailingZeros64(c.seconds); {
	case hour == none:
		return 0, false
	case hour != from/3600:
		return hour*3600 + bits.TrailingZeros64(c.minutes)*60 + first, true
	case minute != from/60%60:
		return hour*3600 + minute*60 + first, true
	}
	return hour*3600 + minute*60 + s, true
}

// none is where from1 finds nothing.
const none = 64

// from1 is the first number of a set that is at least n.
func from1(set uint64, n int) int { return bits.TrailingZeros64(set >> n << n) }

// day is the first day, from this one on, whose date matches. Days are counted from 1 January 1970.
func (c *calendar) day(from int64) (int64, bool) {
	year, month, date := time.Unix(from*secondsOfDay, 0).UTC().Date()
	begin := from - int64(date-1) // the first of the month
	for range monthsAhead {
		length := daysOf(year, month)
		if c.months>>month&1 != 0 {
			if found := from1(c.dates(begin, length), date); found != none {
				return begin + int64(found-1), true
			}
		}
		begin += int64(length)
		date = 1
		if month++; month > time.December {
			year, month = year+1, time.January
		}
	}
	return 0, false
}

// dates is the set of days of a month that match: bit 1 is for the first.
func (c *calendar) dates(begin int64, length int) uint64 {
	all := uint64(1)<<(length+1) - 2
	first := int((begin%7 + 7 + 4) % 7) // its weekday; 1 January 1970 was a Thursday
	byDate := c.monthDays
	for _, constraint := range c.ofMonth {
		byDate |= constrainedDate(constraint, first, length)
	}
	byWeekday := all
	if c.weekdays != allWeekdays {
		byWeekday = c.datesOfWeekdays(first, length)
	}
	if c.eitherDay {
		return (byDate | byWeekday) & all
	}
	return byDate & byWeekday & all
}

func (c *calendar) datesOfWeekdays(first, length int) (set uint64) {
	const weekly = 1 | 1<<7 | 1<<14 | 1<<21 | 1<<28
	for weekday := range 7 {
		if c.weekdays>>weekday&1 != 0 {
			set |= weekly << (1 + (weekday-first+7)%7)
		}
	}
	for _, constraint := range c.ofWeek {
		date := 1 + (constraint.Weekday-first+7)%7
		if constraint.N < 0 {
			date += (length - date) / 7 * 7
		} else {
			date += (constraint.N - 1) * 7
		}
		set |= 1 << date
	}
	return set
}

// constrainedDate is the day that L or W means in a month, as a set; empty where the month has no such day.
func constrainedDate(constraint cron.DomConstraint, first, length int) uint64 {
	date := length
	switch constraint.Type {
	case cron.DomLastOffset:
		date -= constraint.N
	case cron.DomNearestWeekday:
		date = constraint.N
	}
	if date < 1 || date > length {
		return 0
	}
	if constraint.Type == cron.DomLastWeekday || constraint.Type == cron.DomNearestWeekday {
		date = nearestWorkingDay(date, first, length)
	}
	return 1 << date
}

// nearestWorkingDay does not leave the month.
func nearestWorkingDay(date, first, length int) int {
	switch time.Weekday((first + date - 1) % 7) {
	case time.Saturday:
		if date == 1 {
			return 3
		}
		return date - 1
	case time.Sunday:
		if date == length {
			return date - 2
		}
		return date + 1
	}
	return date
}

func daysOf(year int, month time.Month) int {
	switch month {
	case time.April, time.June, time.September, time.November:
		return 30
	case time.February:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// floorDiv is a division that rounds down.
func floorDiv(a, n int64) int64 {
	if q := a / n; q*n <= a {
		return q
	}
	return a/n - 1
}
