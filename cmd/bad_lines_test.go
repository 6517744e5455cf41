//go:build !race

package cmd_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
)

// Thousands of command lines are tried. The race detector takes five times the processor time for such lines (the usual line of each with
// bad addresses of a server, in the file beside: 10.7 s and 2.2 s) and has little to find: those lines, of each command but demo and dev, run under
// it, four at a time. So scripts/test runs these without it, in a step of their own.

// badInput makes values that are wrong for a flag, by what it takes; for many flags some are right.
type badInput struct{ folder, missing, json, binary, empty string }

func newBadInput(t *testing.T) badInput {
	return badInput{folder: t.TempDir(), missing: filepath.Join(t.TempDir(), "missing"), empty: rig.File(t, "empty", ""),
		json:   rig.File(t, "wrong.json", `{"entity": 5, "in": {}, "dsn": []}`+"\n[]\n"),
		binary: rig.File(t, "binary", "\x00\xff\xfe\x7fELF")}
}

func (b badInput) of(flag *pflag.Flag) []string {
	switch flag.Value.Type() {
	case "bool":
		return []string{"perhaps", ""}
	case "int", "int64", "uint64", "number":
		return []string{"", "ten", "-1", "0", "99999999999999999999", "1.5", "0x10", "1\x00", "1\n"}
	}
	return []string{"", " ", "a\x00b", "a\nb", "-", "@", "*", "/", strings.Repeat("x", 70), strings.Repeat("x", 100_000), b.folder, b.missing,
		b.json, b.binary, b.empty, "@" + b.folder, "@" + b.missing, "@" + b.binary, `{"a":`, "[1", "soon", "5", "-3h", "99999999999d",
		"2026-13-45 10:00", "now+", "now-999999d", "order/", "a/b/c", "a b/c", "\xff\xfe", "%s%d", "1/0", "70000", "nosuch",
		"user:pw@tcp(127.0.0.1:1)", "user:pw@tcp(127.0.0.1:99999)/x", "mysql://a:b@c/d", ":99999999"}
}

// badLines are the command lines to try: each flag of each command with wrong values, and arguments. A flag that several commands have gets all
// of them with the first two, and a third of them, another one each time, with the rest.
func badLines(t *testing.T) (list [][]string) {
	t.Helper()
	values := newBadInput(t)
	tried := make(map[string]int)
	some := func(flag *pflag.Flag) (some []string) {
		n := tried[flag.Name]
		tried[flag.Name]++
		for i, value := range values.of(flag) {
			if n < 2 || (i+n)%3 == 0 {
				some = append(some, value)
			}
		}
		return some
	}
	root := cmd.New(cmd.Options{Args: []string{}})
	for _, command := range runnable(root) {
		for _, argument := range []string{"", "nonsense", "a\x00b", strings.Repeat("x", 300), "\xff", "-", "\n"} {
			list = append(list, append(usually(command, ""), argument), append(usually(command, ""), argument, argument))
		}
		list = append(list, append(usually(command, ""), "--nosuch"))
		if command.Name() != "demo" && command.Name() != "dev" { // alone these play for half a minute, and stay
			list = append(list, path(command), append(path(command), "--json"))
		}
		command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
			if flag.Name == "help" {
				return
			}
			for _, value := range some(flag) {
				list = append(list, append(usually(command, flag.Name), "--"+flag.Name+"="+value))
			}
			list = append(list, append(usually(command, ""), "--"+flag.Name+"=1", "--"+flag.Name+"=2"))
		})
	}
	pending, _, err := root.Find([]string{"pending"})
	if err != nil {
		t.Fatal(err)
	}
	root.PersistentFlags().VisitAll(func(flag *pflag.Flag) {
		for _, value := range values.of(flag) {
			list = append(list, append(usually(pending, flag.Name), "--"+flag.Name+"="+value))
		}
	})
	return list
}

// wantedADatabase are the bad lines that wanted one, once they were tried without.
var wantedADatabase [][]string

func TestEveryCommandAnswersBadInputInPlainWords(t *testing.T) {
	t.Chdir(t.TempDir()) // for what writes files
	list := badLines(t)
	began := time.Now()
	wanted := answers(t, map[string]string{"PRESCIENT_DSN": rig.NoServer}, list)
	t.Logf("%d command lines in %s; %d wanted a database", len(list), time.Since(began), len(wanted))
	wantedADatabase = wanted
	if len(list) < 2000 || len(wanted) < 100 {
		t.Errorf("only %d command lines, of which %d came as far as the database", len(list), len(wanted))
	}
}

// What a release of a server has no part in takes long, and is tried on one of each flavour.
func TestEveryCommandAnswersBadInputInPlainWordsOnAServer(t *testing.T) {
	notTried := func(args []string) bool { return slices.Contains(notTriedOnAServer, args[0]) }
	wanted := slices.DeleteFunc(slices.Clone(wantedADatabase), notTried)
	if wantedADatabase == nil { // the test before was not asked for
		wanted = answers(t, map[string]string{"PRESCIENT_DSN": rig.NoServer}, slices.DeleteFunc(badLines(t), notTried))
	}
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		answers(r.T, map[string]string{"PRESCIENT_DSN": r.DSN}, wanted)
		r.Logf("%d command lines", len(wanted))
	})
}
