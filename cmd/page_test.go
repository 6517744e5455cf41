package cmd_test

import (
	"flag"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"prescient/cmd"
	"prescient/prescient/ops/door"
)

//go:generate go test -run TestThePageHasTheCommands -args -write

// The table stands between these lines of the page.
const (
	tableBegins = "<!-- go generate ./cmd writes this table -->\n"
	tableEnds   = "<!-- the table ends -->\n"
)

var writePage = flag.Bool("write", false, "write the table of commands into README.md")

func TestThePageHasTheCommands(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	before, rest, begins := strings.Cut(string(text), tableBegins)
	got, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		t.Fatalf("README.md has no place for the table: want %s", tableBegins)
	}
	want := commandTable(cmd.New(cmd.Options{Serve: func(door.Serving) http.Handler { return nil }}))
	if got == want {
		return
	}
	if !*writePage {
		t.Fatalf("the table in README.md is not that of the commands: run go generate ./cmd. Want\n%s", want)
	}
	if err := os.WriteFile("README.md", []byte(before+tableBegins+want+tableEnds+after), 0o644); err != nil {
		t.Fatal(err)
	}
}

// commandTable is the names of all commands, by the groups of the help, which says what each does.
func commandTable(root *cobra.Command) string {
	var table strings.Builder
	table.WriteString("\n")
	for _, group := range root.Groups() {
		var names []string
		for _, command := range root.Commands() {
			if !command.Hidden && command.GroupID == group.ID {
				names = append(names, "`"+command.Name()+"`")
			}
		}
		fmt.Fprintf(&table, "- %s %s\n", group.Title, strings.Join(names, ", "))
	}
	table.WriteString("\n")
	return table.String()
}
