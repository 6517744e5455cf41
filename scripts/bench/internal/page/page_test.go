package page

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
		if got := Median(test.list); got != test.want {
			t.Errorf("%v: %v; want %v", test.list, got, test.want)
		}
	}
}

func TestASectionThatWasMeasuredAgainCountsFromItsLastBeginning(t *testing.T) {
	old, fresh := Record{Section: "ends", Server: "a", Case: "x", Rows: 1, Seconds: 1}, Record{Section: "ends", Server: "a", Case: "x", Rows: 8, Seconds: 2}
	end, begin := Record{Section: "ends", Server: "a", Done: "key"}, Record{Section: "ends", Server: "a", Begin: "key"}
	for name, test := range map[string]struct {
		records  []Record
		rate     float64
		complete bool
	}{
		"once":           {[]Record{old, end}, 1, true},
		"again":          {[]Record{old, end, fresh, end}, 4, true},
		"again, stopped": {[]Record{old, end, fresh}, 1, true}, // what is complete counts
		"never complete": {[]Record{fresh}, 4, false},
		"resumed":        {[]Record{begin, old, begin, fresh, end}, 4, true},
		"stopped twice":  {[]Record{begin, old, begin, fresh}, 4, false},
	} {
		list := latest(test.records, nil)
		if len(list) != 1 || list[0].of("x", Record.Rate) != test.rate || (list[0].end != nil) != test.complete {
			t.Errorf("%s: %+v", name, list[0])
		}
	}
}

func TestThePageHasRatiosToTheFirstContestantAndAChart(t *testing.T) {
	dir := t.TempDir()
	book, err := OpenBook(dir)
	if err != nil {
		t.Fatal(err)
	}
	book.now = Record{Section: "ends", Engine: "mariadb", Server: "mariadb 10.11"}
	for _, r := range []Record{
		{Case: "floor", Rows: 1000, Seconds: 1, ServerCPU: 0.01}, {Case: "prescient, <ends>", Rows: 1000, Seconds: 2, ClientCPU: 0.005},
	} {
		if err := book.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := book.Finish("key"); err != nil {
		t.Fatal(err)
	}
	book.Close()
	if book, err = OpenBook(dir); err != nil || !book.Done("key") || book.Done("another") {
		t.Fatalf("read again: %+v, %v", book, err)
	}
	defer book.Close()
	if err := Write(dir, book.Records, nil); err != nil {
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
