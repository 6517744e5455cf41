package commit

import (
	"cmp"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/internal/errno"
)

var lockNames = []string{ByRanges: "ByRanges", ByKeys: "ByKeys", FreeInUnique: "FreeInUnique"}

var refusalNames = []string{Staying: "staying", Passing: "passing", FifthBreak: "fifth break", OtherRows: "other rows", Changed: "changed",
	AtOnce: "at once", Waited: "waited", RowRefused: "row refused", ByChance: "by chance"}

// said is how the doc names a step.
func said(from Lock, s Step) string {
	to := lockNames[s.Lock]
	alone := map[Alone]string{Later: "later", Stuck: "later, and told", Otherwise: "otherwise"}[s.Alone]
	switch s.Then {
	case InSameTx:
		return to + ", same transaction"
	case InNewTx:
		if to == "FreeInUnique" {
			return to + ", this batch"
		}
		return to + ", new transaction"
	case WholeSlot:
		return to + ", the whole slot"
	case InParts:
		if s.Lock == ByRanges {
			to = "from the beginning"
		}
		return fmt.Sprintf("%d parts, %s; alone: %s", Parts, to, alone)
	case AfterWait:
		if s.Lock != from {
			return to + ", after a wait"
		}
		return "the same, after a wait"
	}
	return "the run ends"
}

// docLines are the lines of the package's doc from a heading on.
func docLines(t *testing.T, heading string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "doc.go", nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(file.Doc.Text(), "\n# "+heading+"\n")
	if !found {
		t.Fatalf("the doc has no %s", heading)
	}
	after, _, _ = strings.Cut(after, "\n# ")
	return strings.Split(after, "\n")
}

// What the doc does not name ends the run: byKeys finds no other rows; or the attempt, in a transaction of functions.
func TestACommitGoesOnAsItsTableSays(t *testing.T) {
	cells := regexp.MustCompile(`\s{2,}`)
	doc := make(map[string]string)
	for _, line := range docLines(t, "From which to which") {
		row := cells.Split(strings.TrimSpace(line), -1)
		if !strings.HasPrefix(line, "\t") || row[0] == "from" {
			continue
		}
		if len(row) != 3 {
			t.Fatalf("%q has %d cells", line, len(row))
		}
		from, tx := strings.CutPrefix(row[0], "Tx: ")
		locks := strings.Split(from, ", ")
		if from == "any" {
			locks = lockNames
		}
		for _, lock := range locks {
			for _, by := range strings.Split(row[1], ", ") {
				if !slices.Contains(lockNames, lock) || !slices.Contains(refusalNames, by) {
					t.Fatalf("%q: there is no %s, or nothing is %s", line, lock, by)
				}
				cell := fmt.Sprint(tx, lock, by)
				if doc[cell] != "" {
					t.Errorf("%q: that is said twice", line)
				}
				doc[cell] = row[2]
			}
		}
	}
	for from, lock := range lockNames {
		for by, refusal := range refusalNames {
			got := said(Lock(from), Next(Lock(from), Refusal(by)))
			if want := cmp.Or(doc[fmt.Sprint(false, lock, refusal)], "the run ends"); got != want {
				t.Errorf("from %s, %s: %s; the doc says %s", lock, refusal, got, want)
			}
			got = said(Lock(from), NextTx(Lock(from), Refusal(by)))
			if want := cmp.Or(doc[fmt.Sprint(true, lock, refusal)], "the run ends"); got != want {
				t.Errorf("in a transaction of functions from %s, %s: %s; the doc says %s", lock, refusal, got, want)
			}
		}
	}
}

// The lists of the doc are those of the code.
func TestTheDocHasEachWay(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "ways.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	var code []string
	for _, declared := range file.Decls {
		if constants, ok := declared.(*ast.GenDecl); ok && constants.Tok == token.CONST {
			for _, spec := range constants.Specs {
				code = append(code, spec.(*ast.ValueSpec).Names[0].Name)
			}
		}
	}
	var doc []string
	for _, line := range docLines(t, "Ways") {
		if way, isWay := strings.CutPrefix(line, "\t  "); isWay && !strings.HasPrefix(way, " ") {
			doc = append(doc, strings.Fields(way)[0])
		}
	}
	if len(code) != 10 || !slices.Equal(code, doc) {
		t.Errorf("the code has %q, the doc %q", code, doc)
	}
}

func TestARefusalIsKnownByItsError(t *testing.T) {
	server := func(number uint16) error { return fmt.Errorf("%w: %w", errWriting, &mysql.MySQLError{Number: number}) }
	for _, c := range []struct {
		err  error
		want Refusal
	}{
		{errOthers, OtherRows},
		{fmt.Errorf("%w: moved 1 of 2", errChanged), Changed},
		{refused(server(errno.LockWaitTimeout)), AtOnce},
		{refused(server(errno.NoWait)), AtOnce},
		{refused(server(errno.Deadlock)), Passing},
		{server(errno.LockWaitTimeout), Waited},
		{server(errno.NoWait), Waited},
		{server(errno.Signal), RowRefused},
		{&mysql.MySQLError{Number: errno.Signal}, Staying}, // at the fence it is none of a row
		{server(errno.NoSuchColumn), Staying},
		{server(errno.TableDenied), Staying},
		{server(errno.Deadlock), Passing},
		{mysql.ErrInvalidConn, Passing},
		{errors.New("unknown"), Staying},
	} {
		if got := RefusalOf(c.err); got != c.want {
			t.Errorf("%v: %s; want %s", c.err, refusalNames[got], refusalNames[c.want])
		}
	}
}
