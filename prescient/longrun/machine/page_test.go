package machine

import (
	"flag"
	"os"
	"slices"
	"strings"
	"testing"
)

//go:generate go test -run TestThePageHasTheTable -update

var update = flag.Bool("update", false, "write the table into the page")

const begins, ends = "<!-- go generate writes this table -->\n", "<!-- the table ends -->\n"

// page is the table as the page has it. Neighbouring events that have the same rules are one row.
func page() string {
	var b strings.Builder
	for _, s := range States {
		b.WriteString("\n### " + s.String() + "\n\n| hears | does | and why |\n|---|---|---|\n")
		var hears, whys []string
		for i, k := range Kinds {
			hears = append(hears, k.String())
			if why := Table[s][k].Why; !slices.Contains(whys, why) {
				whys = append(whys, why)
			}
			does := rules(s, k)
			if i+1 < len(Kinds) && does == rules(s, Kinds[i+1]) {
				continue
			}
			b.WriteString("| " + strings.Join(hears, ", ") + " | " + does + " | " + strings.Join(whys, " ") + " |\n")
			hears, whys = nil, nil
		}
	}
	return b.String() + "\n"
}

// rules are those of a cell, a line each.
func rules(s State, k Kind) string {
	var lines []string
	for _, rule := range Table[s][k].Rules {
		lines = append(lines, line(s, rule))
	}
	return strings.Join(lines, "<br>")
}

// line is a rule, as "if …: do this, and that → state".
func line(from State, rule Rule) string {
	var text string
	if rule.If.Name != "" {
		text = rule.If.Name + ": "
	}
	var does []string
	for _, action := range rule.Do {
		does = append(does, action.Name)
	}
	if len(does) == 0 {
		does = []string{"nothing"}
	}
	text += strings.Join(does, "; ")
	if rule.Next != from {
		text += " →**" + rule.Next.String() + "**"
	}
	return text
}

func TestThePageHasTheTable(t *testing.T) {
	is, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, _ := strings.Cut(string(is), begins)
	_, after, found := strings.Cut(rest, ends)
	if !found {
		t.Fatalf("the page has not %q and %q", begins, ends)
	}
	want := before + begins + page() + ends + after
	if *update {
		if err := os.WriteFile("README.md", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(is) != want {
		t.Error("the page does not have the table as it is: go generate ./prescient/longrun/machine")
	}
}
