package prescient

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	text "prescient/sql"
)

// Every code that the doctor gives a finding is listed, and every listed one is given.
func TestEveryCodeOfAFindingIsKnown(t *testing.T) {
	codes := regexp.MustCompile(`(?m)(?:\b(?:bad|warn|fine|tell|unseen|orFine)\((?:job, |found, |findings, )?|^\t\{|^\t\t\{)"([a-z_]+(?:\.[a-z]+)?)"`)
	given := []string{}
	for _, kind := range []string{text.DamagedTable, text.DamagedColumn, text.DamagedIndex, text.DamagedCheck, text.DamagedDefault, text.DamagedView, text.DamagedProcedure, text.DamagedDefiner} {
		given = append(given, "schema."+kind)
	}
	known := FindingCodes()
	for _, s := range sources(t) {
		if strings.HasPrefix(s.name, "prescient/doctor") && !s.test {
			for _, found := range codes.FindAllStringSubmatch(string(s.text), -1) {
				given = append(given, found[1])
				if !slices.Contains(known, found[1]) && found[1] != "job_key" { // an index
					t.Errorf("%s has a finding %s, which is not listed", s.name, found[1])
				}
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
	found := []Finding{fine("clock", ""), bad("rows.key", "", "x"), warn("rows.checks", "", "x"), fine("schema", ""), {Code: "missed", Severity: SeverityOK, Unseen: true}}
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
		if strings.Join(got, " ") != test.want || err != nil && !errors.Is(err, ErrInvalid) {
			t.Errorf("only %q, ignore %q: %q, %v; want %q", test.only, test.ignore, got, err, test.want)
		}
	}
}
