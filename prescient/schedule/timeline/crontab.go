package timeline

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	cron "github.com/netresearch/go-cron"
)

// readCrontab reads one crontab. Its errors do not name it. fresh says that it was not taken before.
func readCrontab(text string, zone *time.Location, anchor time.Time, fresh bool) (rule, error) {
	if len(text) > MaxLength {
		return nil, fmt.Errorf("it has %d bytes; %d are allowed", len(text), MaxLength)
	}
	if strings.ContainsFunc(text, func(r rune) bool { return (r < ' ' || r > '~') && r != '\t' }) {
		return nil, errors.New("it has a character that is not allowed; letters, digits, blanks and * ? , - / # @ : + . are")
	}
	fields := strings.Fields(text)
	switch {
	case len(fields) == 0:
		return nil, errors.New("it is empty; " + fieldsWanted)
	case fields[0][0] == '@':
		return readNamed(fields, zone, anchor)
	}
	for i, field := range fields {
		fields[i] = strings.ToLower(field) // go-cron takes THU for a hash
	}
	if len(fields) != 5 && len(fields) != 6 {
		return nil, fmt.Errorf("its number of fields is %d; %s%s", len(fields), fieldsWanted, fromElsewhere(fields))
	}
	parser := newParser()
	kinds := fieldKinds[len(fieldKinds)-len(fields):]
	for i, field := range fields {
		switch {
		case !kinds[i].grammar(field):
			return nil, fmt.Errorf("its %s is %.80q; %s are allowed%s", kinds[i].name, field, kinds[i].allowed, fromElsewhere(fields))
		case fresh && kinds[i].starInList(field):
			return nil, fmt.Errorf("its %s is %.80q, a list with a star, which programs of cron read differently; %s is allowed instead",
				kinds[i].name, field, kinds[i].instead(field))
		}
		fields[i] = kinds[i].rewrite(field)
	}
	schedule, err := parser.Parse(strings.Join(fields, " "))
	if err != nil {
		return nil, refusal(parser, fields, kinds)
	}
	return ruleOf(schedule, zone)
}

const fieldsWanted = "five fields are allowed (minute, hour, day of month, month, day of week), or six with the second before them, " +
	"or one of @hourly, @daily, @midnight, @weekly, @monthly, @yearly, @annually, @every 1h30m, @at 2026-01-01T00:00:00Z"

func newParser() cron.Parser {
	return cron.MustNewParser(cron.SecondOptional | cron.Minute | cron.Hour | cron.Dom | cron.Month | cron.Dow | cron.Descriptor |
		cron.Extended | cron.DowOrDom)
}

// readNamed reads a crontab that begins with @.
func readNamed(fields []string, zone *time.Location, anchor time.Time) (rule, error) {
	name := strings.ToLower(fields[0])
	switch {
	case name == "@every" && len(fields) == 2:
		return readEvery(strings.ToLower(fields[1]), anchor)
	case name == "@at" && len(fields) == 2:
		return readAt(fields[1])
	case len(fields) == 1 && name != "@every" && name != "@at":
		if schedule, err := newParser().Parse(name); err == nil {
			return ruleOf(schedule, zone)
		}
	}
	return nil, errors.New("it begins with @, but is not known; " + fieldsWanted)
}

// ruleOf makes a rule of what go-cron has read.
func ruleOf(schedule cron.Schedule, zone *time.Location) (rule, error) {
	spec, ok := schedule.(*cron.SpecSchedule)
	if !ok {
		return nil, fmt.Errorf("it is read as a %T; %s", schedule, fieldsWanted)
	}
	c := newCalendar(spec)
	if _, ok := c.next(0); !ok {
		return nil, errors.New("it never fires: no month has such a day; a day that some month has is allowed")
	}
	if c.hourly() {
		return &hourly{c, zone}, nil
	}
	return &fixed{c, zone}, nil
}

// fieldKind is one of the six fields.
type fieldKind struct {
	name, allowed string
	most          int
	special       *regexp.Regexp // what an item of the list may be besides a number, a range and a step
	questionMark  bool
}

var fieldKinds = []fieldKind{
	{name: "second", most: 59, allowed: "0 to 59, *, ranges, steps and lists such as 10-40/10,55"},
	{name: "minute", most: 59, allowed: "0 to 59, *, ranges, steps and lists such as 10-40/10,55"},
	{name: "hour", most: 23, allowed: "0 to 23, *, ranges, steps and lists such as 8-18/2,22"},
	{name: "day of month", most: 31, questionMark: true, special: regexp.MustCompile(`^(l|l-\d{1,2}|lw|\d{1,2}w)$`),
		allowed: "1 to 31, *, ?, ranges, steps and lists, L for the last day, L-3, LW and 15W for working days"},
	{name: "month", most: 12, allowed: "1 to 12, jan to dec, *, ranges, steps and lists such as jan-mar,12"},
	{name: "day of week", most: 7, questionMark: true, special: regexp.MustCompile(`^([0-7]|[a-z]{3})(#[1-5]|#?l)$`),
		allowed: "0 to 7, sun to sat, *, ?, ranges, steps and lists such as mon-fri, fri#3 for the third of a month, fri#L for the last"},
}

// item is what each field may have in its list.
var item = regexp.MustCompile(`^(\*|(\d{1,2}|[a-z]{3})(-(\d{1,2}|[a-z]{3}))?)(/\d{1,2})?$`)

// grammar holds a field, in lower case, to what go-cron should take: it also takes *-5, +5, 70-5, and lists with nothing in
// them.
func (k fieldKind) grammar(field string) bool {
	if field == "?" {
		return k.questionMark
	}
	for part := range strings.SplitSeq(field, ",") {
		switch {
		case part == "*": // most are, and to match a pattern takes long
		case k.special != nil && k.special.MatchString(part):
		case !item.MatchString(part) || !k.inRange(part):
			return false
		}
	}
	return true
}

// inRange says of a number, a range or a step whether it is sound at its end: go-cron lets a range over the end begin
// anywhere, and counts Sunday twice in one of weekdays with a step.
func (k fieldKind) inRange(part string) bool {
	reach, _, stepped := strings.Cut(part, "/")
	from, to, is := strings.Cut(reach, "-")
	if n, err := strconv.Atoi(from); err == nil && n > k.most {
		return false
	}
	return k.name != "day of week" || !stepped || !is || weekdayOf(from) <= weekdayOf(to)
}

func weekdayOf(text string) int {
	if at := strings.Index("sunmontuewedthufrisat", text); len(text) == 3 {
		return at / 3
	}
	return int(text[0] - '0')
}

// rewrite turns fril into fri#l, which go-cron reads.
func (k fieldKind) rewrite(field string) string {
	if k.name != "day of week" || !strings.Contains(field, "l") {
		return field
	}
	parts := strings.Split(field, ",")
	for i, part := range parts {
		if day, is := strings.CutSuffix(part, "l"); is && !strings.HasSuffix(day, "#") {
			parts[i] = day + "#l"
		}
	}
	return strings.Join(parts, ",")
}

// refusal says which field it is that go-cron does not take.
func refusal(parser cron.Parser, fields []string, kinds []fieldKind) error {
	for i, field := range fields {
		alone := []string{"*", "*", "*", "*", "*", "*"}
		alone[len(alone)-len(fields)+i] = field
		if _, err := parser.Parse(strings.Join(alone, " ")); err != nil {
			return fmt.Errorf("its %s is %.80q; %s are allowed, with steps below the size of the range", kinds[i].name, field, kinds[i].allowed)
		}
	}
	return errors.New("it is not understood; " + fieldsWanted)
}
