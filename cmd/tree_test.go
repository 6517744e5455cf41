package cmd_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/sql"
)

// use is how the tests use a command.
type use struct {
	args []string // behind the name, so that the command gets to its work
	role string   // that the account needs
	asks string   // of what the command needs: a database, or its tables too; empty for neither
}

// uses has every command that does something itself, by its words.
var uses = map[string]use{
	"run":          {role: "worker", asks: "tables"},
	"work":         {role: "worker", asks: "tables"},
	"sweep":        {role: "worker", asks: "tables"},
	"roll-forward": {role: "worker", asks: "tables"},
	"pause":        {args: []string{"x"}, role: "operator", asks: "tables"},
	"resume":       {args: []string{"x"}, role: "operator", asks: "tables"},

	"insert":       {args: []string{"--entity", "a/b", "--exec", "x", "--in", "1h"}, role: "app-reschedule", asks: "tables"},
	"cancel":       {args: []string{"--entity", "a/b"}, role: "app", asks: "tables"},
	"reschedule":   {args: []string{"--entity", "a/b", "--exec", "x", "--in", "2h"}, role: "app-reschedule", asks: "tables"},
	"requeue":      {args: []string{"--exec", "x", "--outcome", "failed", "--since", "now-2h", "--dry-run"}, role: "operator", asks: "tables"},
	"get":          {args: []string{"--entity", "a/b", "--exec", "x"}, role: "app", asks: "tables"},
	"jobs":         {role: "app", asks: "tables"},
	"history":      {role: "analyst", asks: "tables"},
	"slots":        {role: "app", asks: "tables"},
	"slots ceil":   {args: []string{"13:05"}},
	"slots served": {},
	"slots cover":  {args: []string{"--minutes", "0,30"}},

	"migrate":        {role: "owner", asks: "database"},
	"migrate up":     {role: "owner", asks: "database"},
	"migrate down":   {role: "owner"}, // without --yes it asks nobody
	"migrate status": {role: "owner", asks: "database"},
	"reslot":         {args: []string{"--resolution", "1s"}, role: "owner", asks: "database"},
	"prune":          {args: []string{"--keep", "90d"}, role: "owner", asks: "tables"},
	"doctor":         {role: "worker", asks: "database"},
	"grants":         {args: []string{"--role", "app", "--user", "u"}},
	"units":          {},
	"units cron":     {},
	"units systemd":  {},
	"config":         {},
	"config example": {},
	"demo":           {args: []string{"--for", "1s"}},
	"version":        {},
}

// lineOf is the command line of a use.
func lineOf(name string) []string { return append(strings.Fields(name), uses[name].args...) }

// linesThatAsk are the lines of the commands that need one of these.
func linesThatAsk(what ...string) (list [][]string) {
	for _, name := range slices.Sorted(maps.Keys(uses)) {
		if slices.Contains(what, uses[name].asks) {
			list = append(list, lineOf(name))
		}
	}
	return list
}

// A command that is added is tried by the tests of secrets, roles, and servers that are away or too old: all of these go
// by the list above.
func TestTheListOfCommandsIsThatOfTheTree(t *testing.T) {
	var tree []string
	root := cmd.New(cmd.Options{Args: []string{}})
	for _, command := range runnable(root) {
		tree = append(tree, strings.Join(path(command), " "))
	}
	slices.Sort(tree)
	if list := slices.Sorted(maps.Keys(uses)); !slices.Equal(list, tree) {
		t.Errorf("the list has\n%q\nthe tree\n%q", list, tree)
	}
	for name, u := range uses {
		if (u.asks == "") != (u.role == "") && name != "migrate down" || u.role != "" && !slices.Contains(sql.Roles(), u.role) ||
			!slices.Contains([]string{"", "database", "tables"}, u.asks) {
			t.Errorf("%s: %+v", name, u)
		}
		command, _, err := root.Find(lineOf(name))
		if err != nil || strings.Join(path(command), " ") != name {
			t.Errorf("%q is not a line of %s: %v", lineOf(name), name, err)
		}
	}
	for _, name := range notTriedOnAServer {
		if _, is := uses[name]; !is {
			t.Errorf("%s is left out of what a server is asked, but is no command", name)
		}
	}
}

// The help of grants says of the roles that are for commands which these are.
func TestTheHelpOfGrantsNamesTheCommandsOfARole(t *testing.T) {
	help := execute(t.Context(), cmd.Options{}, nil, "", "grants", "--help").out
	for _, role := range []string{"worker", "operator", "owner"} {
		var named, wanted []string
		for line := range strings.Lines(help) {
			if rest, is := strings.CutPrefix(line, "  "+role+" "); is {
				for part := range strings.SplitSeq(rest, ",") {
					if word, _, _ := strings.Cut(strings.TrimSpace(part), " "); uses[word].role != "" && word != "doctor" { // that one is for every role
						named = append(named, word)
					}
				}
			}
		}
		for name, u := range uses {
			if u.role == role && name != "doctor" && !strings.Contains(name, " ") {
				wanted = append(wanted, name)
			}
		}
		slices.Sort(named)
		slices.Sort(wanted)
		if len(wanted) == 0 || !slices.Equal(named, wanted) {
			t.Errorf("%s: the help names %q; want %q", role, named, wanted)
		}
	}
}

// What units write are commands that are there.
func TestUnitsNameCommands(t *testing.T) {
	seen := 0
	for _, args := range [][]string{{"systemd"}, {"systemd", "--work"}, {"cron"}} {
		for _, text := range texts(t, args...) {
			for line := range strings.Lines(text) {
				if _, rest, is := strings.Cut(line, "/opt/prescient "); is {
					seen++
					if command := strings.Fields(rest)[0]; uses[command].role != "worker" {
						t.Errorf("%q has the command %s", line, command)
					}
				}
			}
		}
	}
	if seen < 5 {
		t.Errorf("only %d lines with a command", seen)
	}
}
