package acceptance

import (
	"go/ast"
	"go/token"
	"path"
	"strings"
	"testing"
)

// Rooms that cannot import errno have names of their own for the servers' errors: the same for the same number.
func TestAnErrorOfTheServersHasOneName(t *testing.T) {
	const room = "prescient/internal/errno"
	known := make(map[string]string) // the numbers by their names, and the names by their numbers
	for _, s := range sources(t) {
		if path.Dir(s.name) == room {
			eachNumber(s.file, func(name, number string) { known[name], known[number] = number, name })
		}
	}
	same := 0
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		eachNumber(s.file, func(name, number string) {
			name, found := strings.CutPrefix(name, "err")
			switch {
			case !found || known[name] == "" && known[number] == "":
			case known[name] != number:
				t.Errorf("%s: err%s is %s, which %s calls %q; there %[2]s is %[6]q", s.name, name, number, room, known[number], known[name])
			default:
				same++
			}
		})
	}
	if same < 20 {
		t.Errorf("%d numbers were compared", same)
	}
}

// eachNumber calls a function for each constant of a file that is a number, written as one.
func eachNumber(file *ast.File, do func(name, number string)) {
	for _, declared := range file.Decls {
		group, is := declared.(*ast.GenDecl)
		if !is || group.Tok != token.CONST {
			continue
		}
		for _, spec := range group.Specs {
			one := spec.(*ast.ValueSpec)
			for i, value := range one.Values {
				if literal, is := value.(*ast.BasicLit); is && literal.Kind == token.INT {
					do(one.Names[i].Name, literal.Value)
				}
			}
		}
	}
}
