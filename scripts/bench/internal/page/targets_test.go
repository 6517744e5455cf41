package page

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// measured are the records of a section with so many rows a second for each case, and its end.
func measured(section string, on Engine, scale string, rates map[string]int) []Record {
	var list []Record
	for name, rate := range rates {
		list = append(list, Record{Section: section, Engine: string(on), Server: string(on), Case: name, Rows: rate, Seconds: 1,
			ClientCPU: float64(rate) * 1.25e-3, ServerCPU: 1.8 - float64(rate)*1.25e-3})
	}
	return append(list, Record{Machine: &machine{Cores: 2}, Section: section, Engine: string(on), Server: string(on), At: time.Now(), Done: section + " scale=" + scale + " rows=0"})
}

func TestTheTableOfTargetsSaysWhatWasReached(t *testing.T) {
	tx := measured("tx", MariaDB, "1", map[string]int{"prescient, Tx handler": 70, ByHandName(1): 10, ByHandName(8): 10})
	table := targetTable(latest(slices.Concat(
		[]Record{{Section: "tx", Engine: "mariadb", Server: "mariadb", Begin: "tx scale=1 rows=0"}}, tx[:3],
		measured("ends", MariaDB, "1", map[string]int{"prescient, ends": 80, "prescient, ends, batch handler": 110, FloorName(1): 100, FloorName(4): 400, "prescient, moves": 20,
			ReadingName(1000): 100, "prescient, ends, 1ms away": 30, ReadingName(1000) + Near: 40, "prescient, ends, alone on its server": 130, ReadingName(4000): 125}),
		measured("ends", MySQL, "0.02", map[string]int{"prescient, ends": 90, FloorName(1): 100}),
		measured("queue", MariaDB, "0.25", map[string]int{"prescient, ends": 500, FloorQueueName(1): 1, FloorQueueName(8): 10, QueueBatchName(100): 100, QueueBatchName(1000): 200}),
		measured("growth", MySQL, "1", map[string]int{"prescient, one handler, among 1M pending": 120, "prescient, one handler, among 30M pending": 100})[:1],
	), nil))
	for _, want := range []string{
		"MariaDB | 0.75 | 1 | **0.80** at least (batch handler 1.10) |  | MariaDB: the processors (busy 90 %; 1250 µs a row in the worker, 21250 in the server); ",
		"MySQL with binlog | 0.6 | 0.8 |  | **0.90** (a try-out at scale 0.02) | ",
		"MySQL without binlog |  |  |  | not measured |  |\n",
		"ends a second against reading 1000 rows and ending them on 4 connections | 0.9 | 1 | **0.80** missed (batch handler 1.10; 1 ms away 0.75) | ",
		"alone on the server, against reading 4000 rows and ending them | 1 | 1.1 | **1.04** at least | not measured | ",
		"against SKIP LOCKED, 100 or 1000 rows a transaction | 2× | 3× | **2.50×** at least (scale 0.25) | not measured | ",
		"against SKIP LOCKED row by row on the same server | 20× | 40× | **50×** reached (scale 0.25) | not measured | ",
		"| moves against ends | 0.4 | 0.6 | **0.25** missed | not measured | ",
		"| ≤ 1.3× | ≤ 1.1× | not measured | not measured | ",                                                // a section that was stopped before there is a ratio
		"by hand | 5× | 10× | **7.00×** at least (against 1 connection 7.00×; not complete) | not measured", // one that was stopped after
	} {
		if !strings.Contains(table, want) {
			t.Errorf("no %q in\n%s", want, table)
		}
	}
}

func TestATargetThatIsAnUpperLimitIsMissedAboveIt(t *testing.T) {
	limit := target{least: 1.3, most: 1.1, under: true}
	for value, want := range map[float64]string{1: " reached", 1.1: " reached", 1.2: " at least", 1.31: " missed"} {
		if got := limit.verdict(value); got != want {
			t.Errorf("%v: %q; want %q", value, got, want)
		}
	}
}

func TestWhatAnAppMayFeelIsATimeOrAMultipleOfWhatItFeelsAlone(t *testing.T) {
	at := func(name string, ms float64) Record {
		return Record{Section: "guest", Engine: "mariadb", Server: "mariadb", Case: name, Figures: map[string]float64{P99(Plain): ms}}
	}
	for _, test := range []struct{ alone, beside, want float64 }{{1, 10, 2}, {10, 60, 2}, {1, 5, 1}} {
		list := latest([]Record{at(NoGuest, test.alone), at(GuestName("default", 1), test.beside)}, nil)
		if got, measured := felt(Plain, 5, 3)[0].of(list[0]); got != test.want || !measured {
			t.Errorf("%v ms beside a slot run, %v alone: %v, %v; want %v", test.beside, test.alone, got, measured, test.want)
		}
	}
	if _, measured := felt(Plain, 5, 3)[1].of(latest([]Record{at(NoGuest, 1)}, nil)[0]); measured {
		t.Error("of what was not measured there is a figure")
	}
}

func TestTheChartOfTargetsHasABarForEachServerAndCutsLongOnes(t *testing.T) {
	svg := targetChart(latest(slices.Concat(
		measured("queue", MariaDB, "0.25", map[string]int{"prescient, ends": 5000, FloorQueueName(1): 1, FloorQueueName(8): 10}),
		measured("tx", MySQL, "0.01", map[string]int{"prescient, Tx handler": 70, ByHandName(1): 10, ByHandName(8): 10}),
	), nil))
	for _, want := range []string{
		"against SKIP LOCKED row by row on the same server, MariaDB</text>", `width="420.0" height="18" fill="#2f6fb0"/>`, "500× (at least 20×)</text>",
		"against SKIP LOCKED row by row on the same server, MySQL</text>", "not measured</text>",
		"7.00× (at least 5×), a try-out at scale 0.01</text>", "floor at one connection, MariaDB</text>",
	} {
		if !strings.Contains(svg, want) {
			t.Errorf("no %q in\n%s", want, svg)
		}
	}
	if strings.Contains(svg, "MySQL without binlog") {
		t.Error("what has no target has a bar")
	}
}
