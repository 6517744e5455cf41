package main

import (
	"strings"
	"testing"
)

const printed = `testing on mariadb, 10.11.19
testing on mysql, 9.7.4
{"Action":"run","Package":"prescient/slots","Test":"TestPure"}
{"Action":"pass","Package":"prescient/slots","Test":"TestPure"}
{"Action":"pass","Package":"prescient/prescient/client","Test":"TestA/mariadb"}
{"Action":"pass","Package":"prescient/prescient/client","Test":"TestA/mariadb/case"}
{"Action":"pass","Package":"prescient/prescient/client","Test":"TestA/mysql"}
{"Action":"pass","Package":"prescient/prescient/client","Test":"TestB/case/mariadb"}
{"Action":"skip","Package":"prescient/prescient/client","Test":"TestB/case/mysql"}
ok  	a line of another kind
{"Action":"pass","Package":"prescient/cmd","Test":"TestC/mysql"}
`

func TestTheTableSaysWhatWasTestedWhere(t *testing.T) {
	var out strings.Builder
	if err := run(strings.NewReader(printed), &out); err != nil {
		t.Fatal(err)
	}
	const want = "| room | mariadb, 10.11.19 | mysql, 9.7.4 |\n|---|---|---|\n" +
		"| `cmd` | – | 1 |\n| `prescient/client` | 2 | 1, and 1 skipped |\n"
	if out.String() != want {
		t.Errorf("%s\nwant\n%s", out.String(), want)
	}
}

func TestWhatFailedOrIsNoOutputOfTestsIsAnError(t *testing.T) {
	for in, want := range map[string]string{
		printed + `{"Action":"fail","Package":"prescient/cmd","Test":"TestD/mysql"}`: "prescient/cmd TestD/mysql",
		"":                              "scripts/test",
		"testing on mysql, 9\n{no JSON": "no JSON",
	} {
		if err := run(strings.NewReader(in), new(strings.Builder)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v; want %q", in, err, want)
		}
	}
}
