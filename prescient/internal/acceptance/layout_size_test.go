package acceptance

import (
	"bytes"
	"errors"
	"go/ast"
	"go/build"
	"go/token"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
)

// What one can read at a sitting: files and lines of a package without its tests, and files that know each other in a
// circle, so that none of them is read alone.
const (
	maxPackageFiles = 22
	maxPackageLines = 3100
	maxCircle       = 4
)

func TestNoPackageIsTooLargeToRead(t *testing.T) {
	files, lines := make(map[string]int), make(map[string]int)
	for _, s := range sources(t) {
		if !s.test && s.name != generated {
			files[path.Dir(s.name)]++
			lines[path.Dir(s.name)] += bytes.Count(s.text, []byte("\n"))
		}
	}
	for folder, n := range files {
		if n > maxPackageFiles || lines[folder] > maxPackageLines {
			t.Errorf("%s has %d files and %d lines; %d and %d are allowed", folder, n, lines[folder], maxPackageFiles, maxPackageLines)
		}
	}
}

func TestNoCircleOfFilesIsTooLargeToRead(t *testing.T) {
	packages := newPackages(sources(t))
	for _, folder := range slices.Sorted(maps.Keys(packages.files)) {
		if largest := largestCircle(packages.references(folder)); len(largest) > maxCircle {
			t.Errorf("%s: %d files refer to each other in a circle; %d are allowed: %s", folder, len(largest), maxCircle, strings.Join(largest, " "))
		}
	}
}

func TestCirclesAreFound(t *testing.T) {
	refers := map[string][]string{"a": {"b"}, "b": {"c", "e"}, "c": {"a"}, "d": {"a", "e"}, "e": {"f"}, "f": {"e"}}
	if got := largestCircle(refers); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("%q; want a, b and c", got)
	}
	if got := largestCircle(map[string][]string{"a": {"b"}, "b": nil}); len(got) != 1 {
		t.Errorf("%q; want a file alone", got)
	}
}

// packages are those of the module, checked for types as far as can be without what other modules and the standard
// library declare: the rest refers to nothing in the package.
type packages struct {
	set     *token.FileSet
	files   map[string][]source // by folder, those that are built here
	checked map[string]*types.Package
	uses    map[string]map[*ast.Ident]types.Object
}

func newPackages(all []source) *packages {
	p := &packages{files: make(map[string][]source), checked: make(map[string]*types.Package), uses: make(map[string]map[*ast.Ident]types.Object)}
	for _, s := range all {
		folder := path.Dir(s.name)
		if built, err := build.Default.MatchFile("../../../"+folder, path.Base(s.name)); s.test || err != nil || !built {
			continue
		}
		p.set = s.set
		p.files[folder] = append(p.files[folder], s)
	}
	return p
}

// Import makes packages of this module known to each other, and stands an empty one in for any other.
func (p *packages) Import(name string) (*types.Package, error) {
	folder, ours := strings.CutPrefix(name, "prescient/")
	if !ours || p.files[folder] == nil {
		empty := types.NewPackage(name, path.Base(name))
		empty.MarkComplete()
		return empty, nil
	}
	if checked, done := p.checked[folder]; done {
		if checked == nil {
			return nil, errors.New("import cycle")
		}
		return checked, nil
	}
	p.checked[folder] = nil
	var files []*ast.File
	for _, s := range p.files[folder] {
		files = append(files, s.file)
	}
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	config := types.Config{Importer: p, Error: func(error) {}} // what empty packages lack
	checked, _ := config.Check(name, p.set, files, info)
	p.checked[folder], p.uses[folder] = checked, info.Uses
	return checked, nil
}

// references returns, for each file of a folder, the files whose declarations, fields and methods it uses.
func (p *packages) references(folder string) map[string][]string {
	_, _ = p.Import("prescient/" + folder) // it cannot fail for a folder that is there
	refers := make(map[string][]string)
	for _, s := range p.files[folder] {
		refers[path.Base(s.name)] = nil
	}
	file := func(at token.Pos) string { return path.Base(p.set.File(at).Name()) }
	for ident, object := range p.uses[folder] {
		variable, ok := object.(*types.Var)
		local := ok && !variable.IsField() && object.Parent() != p.checked[folder].Scope()
		if local || object.Pkg() != p.checked[folder] {
			continue
		}
		from, to := file(ident.Pos()), file(object.Pos())
		if from != to && !slices.Contains(refers[from], to) {
			refers[from] = append(refers[from], to)
		}
	}
	return refers
}

// largestCircle returns the largest set of files each of which leads to each other, as Tarjan finds them.
func largestCircle(refers map[string][]string) (largest []string) {
	number, low := make(map[string]int), make(map[string]int)
	var open []string
	var visit func(file string)
	visit = func(file string) {
		number[file] = len(number) + 1
		low[file] = number[file]
		open = append(open, file)
		for _, next := range refers[file] {
			if number[next] == 0 {
				visit(next)
				low[file] = min(low[file], low[next])
			} else if slices.Contains(open, next) {
				low[file] = min(low[file], number[next])
			}
		}
		if low[file] != number[file] {
			return
		}
		at := slices.Index(open, file)
		circle := slices.Sorted(slices.Values(open[at:]))
		open = open[:at]
		if len(circle) > len(largest) {
			largest = circle
		}
	}
	for _, file := range slices.Sorted(maps.Keys(refers)) {
		if number[file] == 0 {
			visit(file)
		}
	}
	return largest
}
