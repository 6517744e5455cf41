package slots

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/robfig/cron/v3"
)

const (
	minutesOfAnHour uint64 = 1<<60 - 1

	// maxShares keeps every share within the period that Cover looks at.
	maxShares = 10_000
)

// ParseMinutes reads minutes of the UTC hour as they are written in cron: *,
// numbers from 0 to 59, ranges such as 10-50, steps such as */2, 10-50/20 or
// 5/15 (from 5 to the end of the hour), and comma-separated lists of these.
// Blanks are allowed at the ends only. Steps are from 1 to 59.
//
// Served are the slots that begin within a chosen minute: at a resolution of 20
// seconds, minute 7 is three slots. The resolution has to divide an hour.
//
// A number that stands alone names a slot, so one must begin in that minute: 7
// is an error at 15 minutes. A range or a step is a filter and takes those
// slots that it meets: at 15 minutes, */2 is 0 and 30, and 10-50 is 15, 30 and
// 45. It has to meet at least one: 5/15 is an error at 15 minutes. In a list
// this holds for each part. A choice that comes to all the slots of an hour
// equals [All].
//
// Errors wrap [ErrAssignment], or [ErrResolution] for the zero Grid.
func ParseMinutes(g Grid, text string) (Assignment, error) {
	if g.IsZero() {
		return Assignment{}, fmt.Errorf("%w: minutes %q need a grid, got the zero Grid", ErrResolution, text)
	}
	if secondsPerHour%g.seconds != 0 {
		return Assignment{}, fmt.Errorf(
			"%w: minutes %q at a resolution of %s, which does not divide an hour; allowed there are shares such as 1/2",
			ErrAssignment, text, g)
	}
	var chosen uint64
	for part := range strings.SplitSeq(strings.Trim(text, " \t"), ",") {
		minutes, err := parseMinutesPart(g, part)
		if err != nil {
			return Assignment{}, fmt.Errorf("%w: minutes %q: %w", ErrAssignment, text, err)
		}
		chosen |= minutes
	}
	if chosen == g.minutesWithSlots() {
		return All(g), nil
	}
	return Assignment{grid: g, choice: chooseMinutes, minutes: chosen}, nil
}

// parseMinutesPart reads one part of the list and returns those of its minutes
// in which a slot begins.
func parseMinutesPart(g Grid, part string) (uint64, error) {
	asked, err := parseCronMinutes(part)
	if err != nil {
		return 0, fmt.Errorf("%w; allowed are *, numbers 0 to 59, ranges a-b, steps */n or a-b/n with n from 1 to 59, and lists of these with commas", err)
	}
	carried := g.minutesWithSlots()
	met := asked & carried
	switch {
	case met != 0:
		return met, nil
	case isDigits(part):
		return 0, fmt.Errorf("no slot begins in minute %s at a resolution of %s; allowed are %s",
			listMinutes(asked, ""), g, listMinutes(carried, ", "))
	default:
		return 0, fmt.Errorf("%s meets no slot at a resolution of %s; slots begin in the minutes %s",
			part, g, listMinutes(carried, ", "))
	}
}

// numbered matches what has numbers of a bearable length where numbers belong.
var numbered = regexp.MustCompile(`^(\*|[0-9]{1,9}(-[0-9]{1,9})*)(/[0-9]{1,9})*$`)

// parseCronMinutes lets cron read the part after refusing what cron would take
// and nobody means: time zones, names, ?, text after *, steps beyond the hour.
func parseCronMinutes(part string) (uint64, error) {
	if part == "" {
		return 0, errors.New("a part of the list is empty")
	}
	if strings.Trim(part, "0123456789-/*") != "" {
		return 0, fmt.Errorf("%q is not made of digits, -, / and *", part)
	}
	minutes, step, stepped := strings.Cut(part, "/")
	if strings.Contains(minutes, "*") && minutes != "*" {
		return 0, fmt.Errorf("%q mixes * with something else", part)
	}
	if !numbered.MatchString(part) { // cron says so in words of the language it is written in
		return 0, fmt.Errorf("%q lacks a number, or has one that is much too large", part)
	}
	parsed, err := cron.NewParser(cron.Minute).Parse(part)
	if err != nil {
		return 0, err
	}
	if n, err := strconv.Atoi(step); stepped && (err != nil || n > 59) {
		return 0, fmt.Errorf("%q has a step longer than the hour", part)
	}
	schedule, ok := parsed.(*cron.SpecSchedule)
	if !ok {
		return 0, fmt.Errorf("%q is not a list of minutes", part)
	}
	return schedule.Minute & minutesOfAnHour, nil
}

// minutesWithSlots returns the minutes of the hour in which a slot begins. The
// resolution must divide an hour.
func (g Grid) minutesWithSlots() uint64 {
	var minutes uint64
	for second := int64(0); second < secondsPerHour; second += g.seconds {
		minutes |= 1 << (second / 60)
	}
	return minutes
}

// ParseShare reads a share of the slots, such as 1/2: the first of two, by the
// number of the slot since the Unix epoch. At 15 minutes 1/2 is :00 and :30, at
// a day it is every other day from 1970-01-01 on. Any resolution will do. There
// are at most 10000 shares; 1/1 equals [All]. Blanks are allowed at the ends
// only.
//
// Errors wrap [ErrAssignment], or [ErrResolution] for the zero Grid.
func ParseShare(g Grid, text string) (Assignment, error) {
	if g.IsZero() {
		return Assignment{}, fmt.Errorf("%w: share %q needs a grid, got the zero Grid", ErrResolution, text)
	}
	which, of, _ := strings.Cut(strings.Trim(text, " \t"), "/")
	share, shareOK := parseCount(which)
	shares, sharesOK := parseCount(of)
	if !shareOK || !sharesOK || share > shares {
		return Assignment{}, fmt.Errorf(
			"%w: share %q; allowed are k/n with n from 1 to %d and k from 1 to n, such as 1/2 for the first of two",
			ErrAssignment, text, maxShares)
	}
	if shares == 1 {
		return All(g), nil
	}
	return Assignment{grid: g, choice: chooseShare, share: share - 1, shares: shares}, nil
}

// Parse reads what [Assignment.String] says: "every slot", "minutes 0,30",
// "share 1/2", or "no slot", which is the zero Assignment. Its errors are those
// of ParseMinutes and ParseShare, or wrap [ErrAssignment].
func Parse(g Grid, text string) (Assignment, error) {
	kind, which, _ := strings.Cut(text, " ")
	switch {
	case text == "every slot" && !g.IsZero():
		return All(g), nil
	case text == "no slot":
		return Assignment{}, nil
	case kind == "minutes":
		return ParseMinutes(g, which)
	case kind == "share":
		return ParseShare(g, which)
	}
	return Assignment{}, fmt.Errorf("%w: %.80q is none; allowed are every slot, minutes 0,30, share 1/2 and the like", ErrAssignment, text)
}

func parseCount(text string) (int64, bool) {
	if !isDigits(text) {
		return 0, false
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return n, err == nil && n >= 1 && n <= maxShares
}

func isDigits(text string) bool { return text != "" && strings.Trim(text, "0123456789") == "" }
