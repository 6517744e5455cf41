package timeline

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// named are the crontabs that stand behind names.
var named = map[string]string{"@hourly": "0 * * * *", "@daily": "0 0 * * *", "@midnight": "0 0 * * *", "@weekly": "0 0 * * 0", "@monthly": "0 0 1 * *", "@yearly": "0 0 1 1 *", "@annually": "0 0 1 1 *"}

// mostTimes is how many times of a day are named one by one.
const mostTimes = 6

// Words says a crontab in words, as in: at 03:00 from Monday to Friday. It is for crontabs that Parse takes; of others it is empty, or no matter what.
func Words(crontab string) string {
	fields := strings.Fields(strings.ToLower(crontab))
	if len(fields) == 0 {
		return ""
	}
	switch {
	case fields[0] == "@every" && len(fields) == 2:
		return "every " + fields[1] + ", counted from when the schedule was made"
	case fields[0] == "@at" && len(fields) == 2:
		if r, err := readAt(fields[1]); err == nil {
			return "once, at " + time.Time(r.(at)).Format("2006-01-02 15:04:05 UTC")
		}
		return ""
	case named[fields[0]] != "":
		fields = strings.Fields(named[fields[0]])
	}
	if len(fields) == 5 {
		fields = append([]string{"0"}, fields...)
	}
	if len(fields) != 6 {
		return ""
	}
	said := spoken(fields)
	text, often := said.clock()
	if days := said.days(); days != "" {
		text += " " + days
	} else if !often {
		text += " every day"
	}
	if !each(said.month) {
		text += " in " + list(said.month, func(part string) string { return unit(part, "month", monthName) })
	}
	return text
}

// spokenFields are the fields of a crontab.
type spokenFields struct{ second, minute, hour, date, month, weekday string }

func spoken(f []string) spokenFields { return spokenFields{f[0], f[1], f[2], f[3], f[4], f[5]} }

// each says that a field does not restrict.
func each(field string) bool { return field == "*" || field == "?" || field == "*/1" }

// clock is the time of the day; often says that there is one in each hour.
func (s spokenFields) clock() (text string, often bool) {
	if times := s.times(); times != nil {
		return "at " + and(times), false
	}
	step, stepped := strings.CutPrefix(s.minute, "*/")
	n, err := strconv.Atoi(step)
	switch {
	case s.second != "0":
		text = fields(s.second, "second") + ", " + fields(s.minute, "minute")
	case each(s.minute):
		text = "every minute"
	case stepped && err == nil && n > 0 && 60%n == 0:
		text = fmt.Sprintf("every %d minutes", n)
	case each(s.hour) && s.minute == "0":
		return "at each full hour", true
	default:
		text = "at " + fields(s.minute, "minute")
	}
	if !each(s.hour) {
		return text + " of " + fields(s.hour, "hour"), false
	}
	if strings.HasPrefix(text, "at ") || s.second != "0" {
		text += " of each hour"
	}
	return text, true
}

// times are those of the day, where these are few; nil where they are not.
func (s spokenFields) times() (all []string) {
	hours, minutes, seconds := numbers(s.hour), numbers(s.minute), numbers(s.second)
	if n := len(hours) * len(minutes) * len(seconds); n == 0 || n > mostTimes {
		return nil
	}
	for _, h := range hours {
		for _, m := range minutes {
			for _, sec := range seconds {
				text := fmt.Sprintf("%02d:%02d", h, m)
				if s.second != "0" {
					text += fmt.Sprintf(":%02d", sec)
				}
				all = append(all, text)
			}
		}
	}
	return all
}

// numbers are those of a list of numbers; nil for another field.
func numbers(field string) (all []int) {
	for part := range strings.SplitSeq(field, ",") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		all = append(all, n)
	}
	return all
}

// days says on which days; empty for all.
func (s spokenFields) days() string {
	var kinds []string
	if !each(s.date) {
		kinds = append(kinds, "on "+list(s.date, dates))
	}
	if !each(s.weekday) {
		kinds = append(kinds, "on "+list(s.weekday, weekdays))
	}
	return strings.Join(kinds, " and ") // either counts
}

// dates is a part of the field of days of the month.
func dates(part string) string {
	before, fromLast := strings.CutPrefix(part, "l-")
	near, isNear := strings.CutSuffix(part, "w")
	switch {
	case part == "l":
		return "the last day of the month"
	case part == "lw":
		return "the last working day of the month"
	case fromLast && before == "1":
		return "the day before the last one of the month"
	case fromLast:
		return "the day that is " + before + " days before the last one of the month"
	case isNear:
		return "the working day nearest to day " + near + " of the month"
	}
	return unit(part, "day", plain) + " of the month"
}

// weekdays is a part of the field of days of the week.
func weekdays(part string) string {
	day, which, numbered := strings.Cut(part, "#")
	if last, is := strings.CutSuffix(part, "l"); is && !numbered && last != "" {
		day, which, numbered = last, "l", true
	}
	switch {
	case numbered && which == "l":
		return "the last " + weekdayName(day) + " of the month"
	case numbered:
		n, _ := strconv.Atoi(which)
		return "the " + ordinal(n) + " " + weekdayName(day) + " of the month"
	}
	return unit(part, "weekday", weekdayName)
}

// fields is a field of the clock.
func fields(field, what string) string {
	return list(field, func(part string) string { return unit(part, what, plain) })
}

// list says all parts of a field.
func list(field string, say func(part string) string) string {
	var all []string
	for part := range strings.SplitSeq(field, ",") {
		all = append(all, say(part))
	}
	return and(all)
}

// unit is a part of a field: a number, a range, or either with a step.
func unit(part, what string, name func(string) string) string {
	reach, step, stepped := strings.Cut(part, "/")
	from, to, ranged := strings.Cut(reach, "-")
	stepped = stepped && step != "1"
	every := "each " + what
	if stepped {
		n, _ := strconv.Atoi(step)
		every = "each " + ordinal(n) + " " + what
	}
	switch {
	case reach == "*":
		return every
	case ranged:
		return every + " from " + name(from) + " to " + name(to)
	case stepped:
		return every + " from " + name(from) + " on"
	}
	if is := name(from); is != from {
		return is
	}
	return what + " " + from
}

func plain(text string) string { return text }

func monthName(text string) string {
	if at := strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", text); len(text) == 3 && at >= 0 {
		return time.Month(at/3 + 1).String()
	}
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= 12 {
		return time.Month(n).String()
	}
	return text
}

func weekdayName(text string) string {
	if text == "" || len(text) != 3 && (len(text) != 1 || text[0] < '0' || text[0] > '7') {
		return text
	}
	if n := weekdayOf(text); n >= 0 {
		return time.Weekday(n % 7).String()
	}
	return text
}

// ordinal is 1st, 2nd and so on.
func ordinal(n int) string {
	end := "th"
	if n%100/10 != 1 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return strconv.Itoa(n) + end
}

// and joins a list as one says it.
func and(all []string) string {
	if len(all) < 2 {
		return strings.Join(all, "")
	}
	return strings.Join(all[:len(all)-1], ", ") + " and " + all[len(all)-1]
}
