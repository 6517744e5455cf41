package acceptance

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// Pages say by which command a figure was measured, and which test holds a promise: the script, the package and the test are there.
func TestEveryCommandOnAPageIsThere(t *testing.T) {
	commands, dead, err := deadCommands(os.DirFS("../../.."))
	if err != nil {
		t.Fatal(err)
	}
	if commands < 10 {
		t.Errorf("only %d commands were found", commands)
	}
	for _, command := range dead {
		t.Error(command)
	}
}

func TestADeadCommandIsFound(t *testing.T) {
	root := fstest.MapFS{
		"README.md": {Data: []byte("`scripts/test`, `scripts/none --x`, [scripts/none](x) and (`A=1 go test -v -run 'Some|None' ./room -x 2`).\n" +
			"`go test -run None/x ./room`, and `go test -run Some\n./none`. `TestSomething`, `TestGone`, [`TestSomething`](room/some_test.go), [`BenchmarkFast`](scripts/test), and not `Testing`.\n\n```sh\ngo test -run '^$' -bench Fast ./room ./...\ngo test -run '^$' -bench Slow ./... # ./gone\n```\n")},
		"scripts/test":      {},
		"room/some_test.go": {Data: []byte("package room\n\nfunc TestSomething(t *testing.T) {}\n\nfunc BenchmarkFast(b *testing.B) {}\n")},
	}
	commands, dead, err := deadCommands(root)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"README.md: scripts/none: there is no such file",
		"README.md: go test -run None/x ./room: it has no Test for None",
		"README.md: go test -run Some ./none: ./none: there is no such folder",
		"README.md: go test -run '^$' -bench Slow ./...: it has no Benchmark for Slow",
		"README.md: TestGone: there is no such test",
		"README.md: BenchmarkFast: it is not in scripts/test",
	}
	if commands != 11 || !reflect.DeepEqual(dead, want) {
		t.Errorf("of %d commands got\n%s\nwant\n%s", commands, strings.Join(dead, "\n"), strings.Join(want, "\n"))
	}
}

var (
	// inCode is what stands in code on a page: a span, which may go over the end of a line, or a line of a block.
	inCode    = regexp.MustCompile("(?s)```.*?\n```|`[^`]*`")
	ofScripts = regexp.MustCompile(`(?:^|\s)(scripts/[\w/-]+)`)
	goTest    = regexp.MustCompile(`go test (?:'[^']*'|[^#|'])*`)
	ofATest   = regexp.MustCompile("`((?:Test|Benchmark)[A-Z]\\w*)`(?:\\]\\(([^)\\s]+)\\))?")
	function  = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark)\w+)\(`)
)

// deadCommands reads every page under root, and says which scripts, packages and tests that it names in code are not there.
func deadCommands(root fs.FS) (commands int, dead []string, err error) {
	all := functionsIn(root, ".", true)
	err = eachPage(root, func(name string) error {
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		for _, code := range inCode.FindAllString(string(text), -1) {
			lines := []string{strings.ReplaceAll(strings.Trim(code, "`"), "\n", " ")}
			if strings.HasPrefix(code, "```") {
				lines = strings.Split(code, "\n")
			}
			for _, line := range lines {
				n, wrong := deadInLine(root, line)
				commands += n
				for _, what := range wrong {
					dead = append(dead, name+": "+what)
				}
			}
		}
		for _, test := range ofATest.FindAllStringSubmatch(string(text), -1) {
			commands++
			switch linked := test[2]; {
			case !slices.Contains(all, test[1]):
				dead = append(dead, name+": "+test[1]+": there is no such test")
			case linked != "" && !slices.Contains(functionsOf(root, path.Join(path.Dir(name), linked)), test[1]):
				dead = append(dead, name+": "+test[1]+": it is not in "+linked)
			}
		}
		return nil
	})
	return commands, dead, err
}

func deadInLine(root fs.FS, line string) (commands int, wrong []string) {
	for _, script := range ofScripts.FindAllStringSubmatch(line, -1) {
		commands++
		if _, err := fs.Stat(root, path.Clean(script[1])); err != nil {
			wrong = append(wrong, script[1]+": there is no such file")
		}
	}
	for _, command := range goTest.FindAllString(line, -1) {
		commands++
		command = strings.TrimSpace(command)
		if what := deadTest(root, command); what != "" {
			wrong = append(wrong, command+": "+what)
		}
	}
	return commands, wrong
}

// deadTest says what is wrong with a go test: its packages, or that none of them has what -run and -bench select.
func deadTest(root fs.FS, command string) string {
	words := strings.Fields(command)
	var functions []string
	for _, word := range words {
		if !strings.HasPrefix(word, "./") {
			continue
		}
		folder, all := strings.CutSuffix(strings.TrimPrefix(word, "./"), "...")
		folder = path.Clean(folder)
		if _, err := fs.Stat(root, folder); err != nil {
			return word + ": there is no such folder"
		}
		functions = append(functions, functionsIn(root, folder, all)...)
	}
	for i, word := range words[:len(words)-1] {
		kind := map[string]string{"-run": "Test", "-bench": "Benchmark"}[word]
		pattern, _, _ := strings.Cut(strings.Trim(words[i+1], `'"`), "/")
		if kind == "" || pattern == "^$" {
			continue
		}
		selects, err := regexp.Compile(pattern)
		if err != nil {
			return err.Error()
		}
		if !slices.ContainsFunc(functions, func(f string) bool { return strings.HasPrefix(f, kind) && selects.MatchString(f) }) {
			return fmt.Sprintf("it has no %s for %s", kind, pattern)
		}
	}
	return ""
}

// functionsIn are the tests and benchmarks of a folder, with those below it or without.
func functionsIn(root fs.FS, folder string, below bool) (functions []string) {
	_ = fs.WalkDir(root, folder, func(name string, _ fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(name, "_test.go") && (below || path.Dir(name) == folder) {
			functions = append(functions, functionsOf(root, name)...)
		}
		return nil
	})
	return functions
}

// functionsOf are the tests and benchmarks of a file; none where it is not there.
func functionsOf(root fs.FS, file string) (functions []string) {
	text, _ := fs.ReadFile(root, file)
	for _, found := range function.FindAllStringSubmatch(string(text), -1) {
		functions = append(functions, found[1])
	}
	return functions
}
