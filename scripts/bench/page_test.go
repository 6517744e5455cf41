package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheMedianOfAnEvenNumberIsHalfWay(t *testing.T) {
	for _, test := range []struct {
		list []float64
		want float64
	}{{nil, 0}, {[]float64{3}, 3}, {[]float64{9, 1}, 5}, {[]float64{1, 9, 2, 4}, 3}, {[]float64{5, 1, 9}, 5}} {
		if got := median(test.list); got != test.want {
			t.Errorf("%v: %v; want %v", test.list, got, test.want)
		}
	}
}

func TestASectionThatWasMeasuredAgainCountsFromItsLastBeginning(t *testing.T) {
	old, fresh := record{Section: "ends", Server: "a", Case: "x", Rows: 1, Seconds: 1}, record{Section: "ends", Server: "a", Case: "x", Rows: 8, Seconds: 2}
	end, begin := record{Section: "ends", Server: "a", Done: "key"}, record{Section: "ends", Server: "a", Begin: "key"}
	for name, test := range map[string]struct {
		records  []record
		rate     float64
		complete bool
	}{
		"once":           {[]record{old, end}, 1, true},
		"again":          {[]record{old, end, fresh, end}, 4, true},
		"again, stopped": {[]record{old, end, fresh}, 1, true}, // what is complete counts
		"never complete": {[]record{fresh}, 4, false},
		"resumed":        {[]record{begin, old, begin, fresh, end}, 4, true},
		"stopped twice":  {[]record{begin, old, begin, fresh}, 4, false},
	} {
		list := latest(test.records)
		if len(list) != 1 || list[0].of("x", record.rate) != test.rate || (list[0].end != nil) != test.complete {
			t.Errorf("%s: %+v", name, list[0])
		}
	}
}

func TestThePageHasRatiosToTheFirstContestantAndAChart(t *testing.T) {
	dir := t.TempDir()
	book, err := openBook(dir)
	if err != nil {
		t.Fatal(err)
	}
	book.now = record{Section: "ends", Engine: "mariadb", Server: "mariadb 10.11"}
	for _, r := range []record{
		{Case: "floor", Rows: 1000, Seconds: 1, ServerCPU: 0.01}, {Case: "prescient, <ends>", Rows: 1000, Seconds: 2, ClientCPU: 0.005},
	} {
		if err := book.add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := book.finish("key"); err != nil {
		t.Fatal(err)
	}
	book.close()
	if book, err = openBook(dir); err != nil || !book.done("key") || book.done("another") {
		t.Fatalf("read again: %+v, %v", book, err)
	}
	defer book.close()
	if err := writePage(dir, book.records); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{
		"bench.md":               "| prescient, <ends> | 1000 | 500 | 0.50 | 5.0 | 0.0 |",
		"ends-mariadb-10.11.svg": "prescient, &lt;ends&gt;",
	} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v; want %q in\n%s", file, err, want, text)
		}
	}
}

func TestTheHistoryListLengthIsReadFromTheStatus(t *testing.T) {
	if n := historyLength("Trx id counter 5\nPurge done\nHistory list length 42\nLIST OF"); n != 42 {
		t.Error(n)
	}
	if n := historyLength("nothing"); n != 0 {
		t.Error(n)
	}
}
