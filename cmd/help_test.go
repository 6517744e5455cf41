package cmd_test

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"prescient/cmd"
)

// What a help says of an exit code is what the command exits with.
func TestExitCodesInTheHelpAreRight(t *testing.T) {
	right := map[string][]int{"insert": {cmd.ExitPartly}, "prune": {cmd.ExitHeld, cmd.ExitUsage}, "get": {cmd.ExitNotFound}, "migrate": {cmd.ExitTables, cmd.ExitHeld}, "reslot": {cmd.ExitHeld},
		"migrate status": {cmd.ExitTables}, "slots cover": {cmd.ExitFailure}, "schedule create": {cmd.ExitPending}, "schedule show": {cmd.ExitNotFound}, "job show": {cmd.ExitNotFound}, "rule show": {cmd.ExitNotFound}, "blocking": {cmd.ExitWarn},
		"run": {cmd.ExitOK, cmd.ExitDatabase}, "spool": {cmd.ExitFailure}}
	mention := regexp.MustCompile(`exit\s+code\s+is\s+(?:then\s+)?(\d+)`)
	said := 0
	for _, command := range runnable(cmd.New(cmd.Options{Args: []string{}})) {
		name := strings.Join(path(command), " ")
		for _, found := range mention.FindAllStringSubmatch(command.Short+"\n"+command.Long, -1) {
			said++
			if code, err := strconv.Atoi(found[1]); err != nil || !slices.Contains(right[name], code) {
				t.Errorf("%s: %q", name, found[0])
			}
		}
	}
	if said < len(right) {
		t.Errorf("%d exit codes are in the help; want %d", said, len(right))
	}
}

// The help names every exit code, and no other.
func TestTheHelpNamesEveryExitCode(t *testing.T) {
	want := []int{cmd.ExitOK, cmd.ExitFailure, cmd.ExitUsage, cmd.ExitNotFound, cmd.ExitTables, cmd.ExitDatabase, cmd.ExitPending,
		cmd.ExitHeld, cmd.ExitPartly, cmd.ExitDenied, cmd.ExitWarn, cmd.ExitBad}
	if got := documented(); !slices.Equal(got, want) {
		t.Errorf("the help names %d; want %d", got, want)
	}
}
