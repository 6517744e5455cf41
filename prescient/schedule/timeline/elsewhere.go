package timeline

import (
	"fmt"
	"strings"
)

// starInList says whether a field of days is a list with a star in it. Crons differ in what that means beside the other field of days:
// go-cron takes it for a star, others for a restriction, so that one of the two is enough.
func (k fieldKind) starInList(field string) bool {
	return k.special != nil && strings.Contains(field, ",") && strings.Contains(field, "*")
}

// instead is what to write in the place of a list with a star.
func (k fieldKind) instead(field string) string {
	var rest []string
	each := false
	for part := range strings.SplitSeq(field, ",") {
		switch step, starred := strings.CutPrefix(part, "*"); {
		case !starred:
			rest = append(rest, part)
		case step == "" || step == "/1":
			each = true
		default:
			rest = append(rest, k.whole()+step)
		}
	}
	switch {
	case !each:
		return strings.Join(rest, ",")
	case len(rest) == 0:
		return "*"
	}
	return fmt.Sprintf("* for each day, or %s for these alone,", strings.Join(rest, ","))
}

// whole is the range of all days.
func (k fieldKind) whole() string {
	if k.most == 31 {
		return "1-31"
	}
	return "0-6"
}

// fromElsewhere is a hint for who brings along a crontab, in lower case, that only another program reads; empty where nothing shows that.
func fromElsewhere(fields []string) string {
	first, last := fields[0], fields[len(fields)-1]
	switch {
	case strings.HasPrefix(first, "cron("):
		return `; cron(…) is that of AWS: leave cron( and ) away, and the year, which comes last there; its 1 for Sunday is 0 or sun here`
	case strings.HasPrefix(first, "rate("):
		return "; rate(…) is that of AWS: @every 5m is for each 5 minutes"
	case strings.HasPrefix(first, "tz=") || strings.HasPrefix(first, "cron_tz="):
		return "; the zone does not stand in the crontab, but beside it"
	case hasHash(fields):
		return "; H is that of Jenkins: give a number, and a jitter, which spreads what is asked for the same time"
	case len(fields) == 7:
		return "; a seventh, the year of Quartz, is not"
	case len(fields) == 6 && (fields[2] == "?" || fields[4] == "?"):
		return "; of six fields the first is the second: leave the year of AWS away, which comes last there; its 1 for Sunday is 0 or sun here"
	case len(fields) == 6 && len(last) == 4 && strings.Trim(last, "0123456789") == "":
		return "; of six fields the last is the day of the week: a year is not allowed"
	case last == "l" || last == "lw":
		return "; the L of Quartz is 6 or sat here, where it stands alone for a day of the week"
	}
	return ""
}

// hasHash says whether a field is an H, as H/15 and H(0-7) are.
func hasHash(fields []string) bool {
	for _, field := range fields {
		for part := range strings.SplitSeq(field, ",") {
			if part == "h" || strings.HasPrefix(part, "h/") || strings.HasPrefix(part, "h(") {
				return true
			}
		}
	}
	return false
}
