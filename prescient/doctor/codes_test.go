package doctor

import (
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"prescient/prescient"
	"prescient/sql/migrate"
)

// Every code that the doctor gives a finding is listed, and every listed one is given.
func TestEveryCodeOfAFindingIsKnown(t *testing.T) {
	codes := regexp.MustCompile(`(?m)(?:\b(?:bad|warn|fine|part|tell|unseen|notShown|withoutProcess|orFine|orPart)\((?:job, |found, |ctx, )?|^\t\{|^\t\t\{)"([a-z_]+(?:\.[a-z]+)?)"`)
	given := []string{}
	for _, kind := range []string{migrate.DamagedTable, migrate.DamagedColumn, migrate.DamagedIndex, migrate.DamagedCheck, migrate.DamagedDefault, migrate.DamagedView, migrate.DamagedProcedure, migrate.DamagedDefiner} {
		given = append(given, "schema."+kind)
	}
	known := FindingCodes()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range codes.FindAllStringSubmatch(string(source), -1) {
			given = append(given, found[1])
			if !slices.Contains(known, found[1]) && found[1] != "job_key" { // an index
				t.Errorf("%s has a finding %s, which is not listed", name, found[1])
			}
		}
	}
	for _, code := range known {
		if !slices.Contains(given, code) {
			t.Errorf("no finding is %s", code)
		}
	}
}

func TestFindingsAreSelected(t *testing.T) {
	found := []Finding{fine("clock", ""), bad("rows.key", "", "x"), warn("rows.checks", "", "x"), fine("schema", ""), unseen("missed", "", "x")}
	broken := append(slices.Clone(found), bad("schema.column", "", "x"))
	for _, test := range []struct {
		found        []Finding
		only, ignore string
		want         string
	}{
		{found, "", "", "clock rows.key rows.checks schema missed"},
		{found, "rows", "", "rows.key rows.checks"},
		{found, "rows.key,clock", "", "clock rows.key"},
		{found, "", "rows,clock", "schema missed"},
		{found, "rows", "rows.checks", "rows.key"},
		{broken, "clock", "", "clock schema.column"},
		{broken, "clock", "schema", "clock schema.column"},
		{found, "overdue", "", ""},
		{found, "missed", "", "error"},
		{found, "missed,rows", "", "rows.key rows.checks missed"},
		{found, "overdoe", "", "error"},
		{found, "", "overdoe", "error"},
		{found, "", "schema.table", "error"},
	} {
		list := func(codes string) []string { return strings.FieldsFunc(codes, func(r rune) bool { return r == ',' }) }
		kept, err := SelectFindings(test.found, list(test.only), list(test.ignore))
		var got []string
		for _, f := range kept {
			got = append(got, f.Code)
		}
		if err != nil {
			got = []string{"error"}
		}
		if strings.Join(got, " ") != test.want || err != nil && !errors.Is(err, prescient.ErrInvalid) {
			t.Errorf("only %q, ignore %q: %q, %v; want %q", test.only, test.ignore, got, err, test.want)
		}
	}
}
