package file

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"prescient/prescient"
	"prescient/prescient/schedule"
)

// Change is a name of a record that has another value.
type Change struct {
	Name string `json:"name"`
	// From and To are for people; they are empty where there is none. Long ones are cut, and of payloads that are no text only the
	// length is there.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// String is for people.
func (c Change) String() string {
	show := func(text string) string {
		if text == "" {
			return "none"
		}
		return text
	}
	return fmt.Sprintf("%s %s → %s", c.Name, show(c.From), show(c.To))
}

// Difference says what is to be changed of a stored schedule to make it as it is wanted; nothing where it is so.
func Difference(stored schedule.Stored, wanted schedule.Wanted) []Change {
	list := Between(stored.Schedule, wanted.Schedule)
	if wanted.Paused && stored.Enabled {
		list = append(list, Change{"enabled", "true", "false"})
	}
	return list
}

// Between says what tells one definition from another.
func Between(from, to schedule.Schedule) (list []Change) {
	before, after := membersOf(from), membersOf(to)
	for _, name := range names {
		old, had := before[name]
		now, has := after[name]
		if had != has || !slices.Equal(old, now) {
			list = append(list, Change{name, shown(name, old, had, now), shown(name, now, has, old)})
		}
	}
	return list
}

func membersOf(one schedule.Schedule) map[string][]string {
	of := make(map[string][]string)
	for _, m := range Of(one, true).members() {
		of[m.name] = m.texts
	}
	return of
}

// longest is how much of a value is shown, in characters.
const longest = 60

// shown is a value for people, who look for what tells it from another.
func shown(name string, texts []string, there bool, other []string) string {
	text := strings.Join(texts, ", ")
	switch {
	case !there:
		return ""
	case name == "payload_base64":
		return fmt.Sprintf("(%d bytes)", len(texts[0])/4*3-strings.Count(texts[0], "="))
	case name == "payload" && utf8.RuneCountInString(text) > longest && slices.ContainsFunc(other, func(o string) bool { return len(o) == len(text) }):
		return fmt.Sprintf("(%d other bytes)", len(text))
	case name == "payload" && utf8.RuneCountInString(text) > longest:
		return fmt.Sprintf("(%d bytes)", len(text))
	case name == "payload":
		return fmt.Sprintf("%q", text)
	}
	return prescient.Shorten(text, longest)
}
