package config

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

//go:generate go test -run TestThePageHasTheKeys -args -write

const page = "../cmd/README.md"

// The table stands between these lines of the page.
const (
	tableBegins = "<!-- go generate ./config writes this table -->\n"
	tableEnds   = "<!-- the table ends -->\n"
)

var writePage = flag.Bool("write", false, "write the table of keys into "+page)

func TestThePageHasTheKeys(t *testing.T) {
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), tableBegins)
	got, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		t.Fatalf("%s has no place for the table: want %s", page, tableBegins)
	}
	want := keyTable(t)
	if got == want {
		return
	}
	if !*writePage {
		t.Fatalf("the table of keys in %s is not that of the keys: run go generate ./config. Want\n%s", page, want)
	}
	if err := os.WriteFile(page, []byte(before+tableBegins+want+tableEnds+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// keyTable is the table of every key with its default, a line a section. What a key means stands in the example, or its flag says it.
func keyTable(t *testing.T) string {
	t.Helper()
	said := exampleSays(t)
	var sections []string
	keys := make(map[string][]string)
	for _, f := range fields(new(Config)) {
		guard, _ := strings.CutPrefix(f.name, "jobs.orders.")
		if said[f.name] == "" && f.usage == "" && said["guards."+guard] == "" {
			t.Errorf("nobody says what %s is", f.name)
		}
		section, key := "", f.name
		if dot := strings.LastIndexByte(f.name, '.'); dot >= 0 {
			section, key = f.name[:dot], f.name[dot+1:]
		}
		if f.fallback != "" {
			key += ": " + f.fallback
		}
		if keys[section] == nil {
			sections = append(sections, section)
		}
		keys[section] = append(keys[section], "`"+key+"`")
	}
	var table strings.Builder
	table.WriteString("\n")
	for _, section := range sections {
		name := "`" + section + "`"
		if section == "" {
			name = "no section"
		}
		fmt.Fprintf(&table, "- %s: %s\n", name, strings.Join(keys[section], ", "))
	}
	table.WriteString("\n")
	return table.String()
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
