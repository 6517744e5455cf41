package page

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestTheArithmeticToABillionIsOfWhatWasMeasured(t *testing.T) {
	var records []Record
	add := func(r Record) {
		r.Section, r.Engine, r.Server = "vitess", string(MySQL), "mysql 9.7"
		records = append(records, r)
	}
	add(Record{Begin: "vitess mysql scale=1"})
	add(Record{Case: Alone, Rows: 1000, Seconds: 1, ClientCPU: 0.01, ServerCPU: 0.03})
	add(Record{Case: Shards(4), Rows: 1000, Seconds: 1, ClientCPU: 0.01, ServerCPU: 0.05})
	add(Record{Case: Shards(4) + Idle, Figures: map[string]float64{StatementsAMinute: 40}})
	dir := t.TempDir()
	page := func() string {
		if err := Write(dir, records, nil); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "bench.md"))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if text := page(); strings.Contains(text, "A billion") || !strings.Contains(text, "| Vitess, 4 shards, idle | | | | | | statements a minute and shard 40 |") {
		t.Errorf("before it was measured:\n%s", text)
	}
	add(Record{Case: Shards(4) + Among(8_000_000), Rows: 1000, Seconds: 1, ClientCPU: 0.01, ServerCPU: 0.06,
		Figures: map[string]float64{CPUOf("mysqld"): 40, CPUOf("vttablet"): 8, CPUOf("vtgate"): 12}})
	add(Record{Case: Pending, Rows: 8_000_000, Figures: map[string]float64{BytesEach: 250, ShardsOf: 4}})
	add(Record{Done: "vitess mysql scale=1"})
	text := page()
	// A million rows: 62,500 of 48 µs on 2 cores of a shard, all of 12 µs on those of vtgate, of 10 µs on the worker's, and 70 s of all.
	for _, want := range []string{"A billion pending", "250 GB", "16 GB and 62 million rows", "1.50 s", "6.00 s of 2 cores", "5.00 s of as many", "after 6.00 s", "70 s of CPU", "2.00 million pending a shard",
		"| **1.50×** missed |"} {
		if !strings.Contains(strings.ReplaceAll(text, "\n", " "), want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
}
