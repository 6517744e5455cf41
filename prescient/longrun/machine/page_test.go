package machine

import (
	"flag"
	"os"
	"strings"
	"testing"
)

//go:generate go test -run TestThePageHasTheTable -update

var update = flag.Bool("update", false, "write the table into the page")

const begins, ends = "<!-- go generate writes this table -->\n", "<!-- the table ends -->\n"

// page is the table as the page has it.
func page() string {
	var b strings.Builder
	for _, s := range States {
		b.WriteString("\n### " + s.String() + "\n\n| hears | does | and why |\n|---|---|---|\n")
		for _, k := range Kinds {
			cell := Table[s][k]
			var rules []string
			for _, rule := range cell.Rules {
				rules = append(rules, line(s, rule))
			}
			b.WriteString("| " + k.String() + " | " + strings.Join(rules, "<br>") + " | " + cell.Why + " |\n")
		}
	}
	return b.String() + "\n"
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
		text += " → **" + rule.Next.String() + "**"
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
