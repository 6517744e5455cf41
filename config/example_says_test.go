package config

import (
	"strings"
	"testing"
)

// What a key means stands in the example, or its flag says it.
func TestSomebodySaysWhatEachKeyIs(t *testing.T) {
	said := exampleSays(t)
	for _, f := range fields(new(Config)) {
		guard, _ := strings.CutPrefix(f.name, "jobs.orders.")
		if said[f.name] == "" && f.usage == "" && said["guards."+guard] == "" {
			t.Errorf("nobody says what %s is", f.name)
		}
	}
}

// exampleSays returns the comments that stand above the keys of the example.
func exampleSays(t *testing.T) map[string]string {
	t.Helper()
	said := make(map[string]string)
	section := ""
	var comment []string
	for line := range strings.Lines(Example) {
		text := strings.TrimSpace(line)
		if words, is := strings.CutPrefix(text, "#"); is {
			comment = append(comment, strings.TrimSpace(words))
			continue
		}
		if key, value, is := strings.Cut(text, ":"); is {
			switch indent := (len(line) - len(strings.TrimLeft(line, " "))) / 2; {
			case indent == 0 && value == "":
				section = key + "."
			case indent == 0:
				section = ""
				said[key] = strings.Join(comment, " ")
			case indent == 1 && value == "":
				section = strings.SplitAfter(section, ".")[0] + key + "."
			default:
				said[section+key] = strings.Join(comment, " ")
			}
		}
		comment = nil
	}
	return said
}
