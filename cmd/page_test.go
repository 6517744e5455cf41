package cmd_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"prescient/cmd"
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
	want := commandTable(cmd.New(cmd.Options{}))
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

// commandTable is the table of every command with its subcommands, by the groups of the help.
func commandTable(root *cobra.Command) string {
	var table strings.Builder
	for _, group := range root.Groups() {
		fmt.Fprintf(&table, "\n| %s | |\n|---|---|\n", strings.TrimSuffix(group.Title, ":"))
		for _, command := range root.Commands() {
			if command.GroupID == group.ID {
				writeRows(&table, root.Name(), command)
			}
		}
	}
	table.WriteString("\n")
	return table.String()
}

func writeRows(table *strings.Builder, program string, command *cobra.Command) {
	fmt.Fprintf(table, "| `%s` | %s |\n", strings.TrimPrefix(command.CommandPath(), program+" "), command.Short)
	for _, sub := range command.Commands() {
		writeRows(table, program, sub)
	}
}
