package cmd_test

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/sql"
)

// A command that is added is tried by the tests of secrets, roles, and servers that are away or too old: all of these go
// by the list above.
func TestTheListOfCommandsIsThatOfTheTree(t *testing.T) {
	var tree []string
	root := cmd.New(cmd.Options{Args: []string{}})
	for _, command := range runnable(root) {
		tree = append(tree, strings.Join(path(command), " "))
	}
	slices.Sort(tree)
	if list := slices.Sorted(maps.Keys(rig.Uses)); !slices.Equal(list, tree) {
		t.Errorf("the list has\n%q\nthe tree\n%q", list, tree)
	}
	for name, u := range rig.Uses {
		if (u.Asks == "") != (u.Role == "") && name != "migrate down" || u.Role != "" && !slices.Contains(sql.Roles(), u.Role) ||
			!slices.Contains([]string{"", "database", "tables"}, u.Asks) {
			t.Errorf("%s: %+v", name, u)
		}
		command, _, err := root.Find(rig.LineOf(name))
		if err != nil || strings.Join(path(command), " ") != name {
			t.Errorf("%q is not a line of %s: %v", rig.LineOf(name), name, err)
		}
	}
	for _, name := range notTriedOnAServer {
		if _, is := rig.Uses[name]; !is {
			t.Errorf("%s is left out of what a server is asked, but is no command", name)
		}
	}
}

// A span of time has the same names in every command: whoever knows those of one knows all.
func TestASpanOfTimeIsFromAndBefore(t *testing.T) {
	spans := 0
	for _, command := range runnable(cmd.New(cmd.Options{Args: []string{}})) {
		flags := command.Flags()
		for _, name := range []string{"since", "until", "to"} {
			if flags.Lookup(name) != nil {
				t.Errorf("%s has --%s", command.CommandPath(), name)
			}
		}
		if flags.Lookup("before") != nil {
			spans++
			if flags.Lookup("from") == nil {
				t.Errorf("%s has --before, and no --from", command.CommandPath())
			}
		}
	}
	if spans < 14 {
		t.Errorf("%d commands ask for a span; want audit, attest, history, requeue, rule try, runs and the others", spans)
	}
}

// The help of grants says of the roles that are for commands which these are.
func TestTheHelpOfGrantsNamesTheCommandsOfARole(t *testing.T) {
	help := rig.Execute(t.Context(), cmd.Options{}, nil, "", "grants", "--help").Out
	for _, role := range []string{"worker", "operator", "owner"} {
		var named, wanted []string
		for line := range strings.Lines(help) {
			if rest, is := strings.CutPrefix(line, "  "+role+" "); is {
				for part := range strings.SplitSeq(rest, ",") {
					if word, _, _ := strings.Cut(strings.TrimSpace(part), " "); rig.Uses[word].Role != "" && word != "doctor" { // that one is for every role
						named = append(named, word)
					}
				}
			}
		}
		for name, u := range rig.Uses {
			if u.Role == role && name != "doctor" && !strings.Contains(name, " ") {
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
