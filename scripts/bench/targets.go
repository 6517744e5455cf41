package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// target is something to be reached, on a machine of 2 cores that client and server share.
type target struct {
	measure     string
	on          []engine // where it counts; none: on mariadb and mysql
	least, most float64  // at least, and go for; where none is given it is only shown
	under       bool     // less is better
	unit        string
	section     string
	figures     []figure // the first counts, the others are shown with it
}

// figure is a number from the results of a section.
type figure struct {
	name string
	of   func(s *results) (float64, bool)
}

// targets in the order in which the page has them.
func targets() []target {
	ends := []figure{
		{"", ratio("prescient, ends", floorName(1))},
		{"batch handler", ratio("prescient, ends, batch handler", floorName(1))},
	}
	against := func(suffix string, peers ...string) []figure {
		for i := range peers {
			peers[i] += suffix
		}
		return []figure{
			{"", ratio("prescient, ends"+suffix, peers...)},
			{"batch handler", ratio("prescient, ends, batch handler"+suffix, peers...)},
		}
	}
	more := against(amongPending, riverReady)
	more[0].name, more[1].name = "with more pending", "with more pending, batch handler"
	everysec := against("", "Asynq on Redis, fsync everysec")
	everysec[0].name, everysec[1].name = "fsync everysec", "fsync everysec, batch handler"
	const floor = "ends a second against the floor at one connection"
	return []target{
		{measure: floor + ", MariaDB", on: []engine{mariaDB}, least: 0.75, most: 1, section: "ends", figures: ends},
		{measure: floor + ", MySQL with binlog", on: []engine{mySQL}, least: 0.6, most: 0.8, section: "ends", figures: ends},
		{measure: floor + ", MySQL without binlog", on: []engine{mysqlNoBinlog}, section: "ends", figures: ends},
		{measure: "against River on Postgres", least: 5, most: 8, unit: "×", section: "river", figures: slices.Concat(against("", riverReady), more)},
		{measure: "against Asynq on Redis", least: 8, most: 12, unit: "×", section: "asynq",
			figures: slices.Concat(against("", "Asynq on Redis, fsync always"), everysec)},
		{measure: "against SKIP LOCKED row by row on the same server", least: 20, most: 40, unit: "×", section: "queue",
			figures: against("", floorQueueName(1), floorQueueName(8))},
		{measure: "moves against ends", least: 0.4, most: 0.6, section: "ends", figures: []figure{
			{"", ratio("prescient, moves", "prescient, ends")}, {"batch handler", ratio("prescient, moves, batch handler", "prescient, ends, batch handler")}}},
		{measure: "Tx handlers against one transaction a job by hand", least: 5, most: 10, unit: "×", section: "tx", figures: []figure{
			{"", ratio("prescient, Tx handler", byHandName(1), byHandName(8))}, {"against 1 connection", ratio("prescient, Tx handler", byHandName(1))}}},
		{measure: "orders check, batch handler against one query a job", least: 5, most: 10, unit: "×", section: "orders",
			figures: []figure{{"", ratio("prescient, one IN a batch", "prescient, one query a job")}}},
		{measure: "bulk insert against multi-row INSERT by hand", least: 0.9, most: 1, section: "insert",
			figures: []figure{{"", ratio("prescient, InsertMany", "multi-row INSERT by hand, 1000 rows each")}}},
		{measure: "time for what is due among 30 million pending against among 1 million", least: 1.3, most: 1.1, under: true, unit: "×", section: "growth",
			figures: []figure{{"", firstToLast("prescient, one handler, among ")}, {"batch handler", firstToLast("prescient, batch handler, among ")}}},
		{measure: "statements of an idle worker a slot", least: 10, most: 5, under: true, section: "idle",
			figures: []figure{{"", idleFigure("statements/slot")}, {"and a sweep", idleFigure("statements/sweep")}}},
		{measure: "memory, slot of 2 million", least: 150, most: 80, under: true, unit: " MB", section: "memory",
			figures: []figure{{"", peakOf("one")}, {"batch handler", peakOf("batch")}}},
	}
}

// ratio is how much faster one case was than the fastest of others, in one run.
func ratio(name string, others ...string) func(s *results) (float64, bool) {
	return func(s *results) (float64, bool) {
		fastest := 0.0
		for _, other := range others {
			if s.byCase[other] == nil {
				return 0, false
			}
			fastest = max(fastest, s.of(other, record.rate))
		}
		return s.of(name, record.rate) / fastest, s.byCase[name] != nil && fastest > 0
	}
}

// firstToLast is how much faster the first of some cases was than the last.
func firstToLast(prefix string) func(s *results) (float64, bool) {
	return func(s *results) (float64, bool) {
		var names []string
		for _, name := range s.cases {
			if strings.HasPrefix(name, prefix) {
				names = append(names, name)
			}
		}
		if len(names) < 2 {
			return 0, false
		}
		return ratio(names[0], names[len(names)-1])(s)
	}
}

func idleFigure(name string) func(s *results) (float64, bool) {
	return func(s *results) (float64, bool) {
		const worker = "prescient, a worker"
		return s.of(worker, func(r record) float64 { return r.Figures[name] }), s.byCase[worker] != nil
	}
}

// peakOf is the memory at the most rows that were due.
func peakOf(form string) func(s *results) (float64, bool) {
	return func(s *results) (peak float64, found bool) {
		rows := 0
		for name, list := range s.byCase {
			if strings.HasPrefix(name, "prescient, "+form+" handler") && list[0].Rows > rows {
				rows, peak, found = list[0].Rows, s.of(name, func(r record) float64 { return r.Figures["peak MB"] }), true
			}
		}
		return peak, found
	}
}

// targetTable is the part of the page about what is to be reached.
func targetTable(list []*results) string {
	var b strings.Builder
	b.WriteString("\n## What to reach\n\nOn a machine of 2 cores that client and server share; each a ratio within one run, of medians. " +
		"The first number is that of one-job handlers, and counts; of several peers, or settings of one, the fastest.\n\n" +
		"| measure | at least | go for | on MariaDB | on MySQL |\n|---|--:|--:|---|---|\n")
	for _, t := range targets() {
		on := t.on
		if on == nil {
			on = []engine{mariaDB, mySQL}
		}
		cells := map[engine]string{mariaDB: "", mySQL: ""}
		for _, e := range on {
			column := e
			if e == mysqlNoBinlog {
				column = mySQL
			}
			cells[column] = t.reached(find(list, t.section, e))
		}
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s |\n", t.measure, t.limit(t.least), t.limit(t.most), cells[mariaDB], cells[mySQL])
	}
	return b.String()
}

// find is the latest complete results of a section on an engine; nil for none.
func find(list []*results, section string, on engine) (found *results) {
	for _, s := range list {
		if s.section == section && s.end != nil && s.end.Engine == string(on) && (found == nil || s.end.At.After(found.end.At)) {
			found = s
		}
	}
	return found
}

func (t target) limit(n float64) string {
	if n == 0 {
		return ""
	}
	text := fmt.Sprintf("%g%s", n, t.unit)
	if t.under {
		return "≤ " + text
	}
	return text
}

// reached is a cell: what was measured, and how it compares.
func (t target) reached(s *results) string {
	const none = "not measured"
	if s == nil {
		return none
	}
	value, measured := t.figures[0].of(s)
	if !measured {
		return none
	}
	var more []string
	for _, f := range t.figures[1:] {
		if v, measured := f.of(s); measured {
			more = append(more, fmt.Sprintf("%s %s%s", f.name, precise(v), t.unit))
		}
	}
	verdict := t.verdict(value)
	if scale := scaleOf(s); scale != "1" {
		// With fewer rows it is another thing that was measured.
		more = append(more, "a try-out at scale "+scale)
		verdict = ""
	}
	cell := fmt.Sprintf("**%s%s**%s", precise(value), t.unit, verdict)
	if len(more) > 0 {
		cell += " (" + strings.Join(more, "; ") + ")"
	}
	return cell
}

func (t target) verdict(value float64) string {
	reached := func(limit float64) bool {
		if t.under {
			return value <= limit
		}
		return value >= limit
	}
	switch {
	case t.least == 0:
		return ""
	case reached(t.most):
		return " reached"
	case reached(t.least):
		return " at least"
	}
	return " missed"
}

// precise is a number with what matters of it.
func precise(n float64) string {
	if n < 10 {
		return fmt.Sprintf("%.2f", n)
	}
	return fmt.Sprintf("%.0f", n)
}

var scaleInKey = regexp.MustCompile(` scale=(\S+)`)

// scaleOf is the --scale of a section that is complete.
func scaleOf(s *results) string {
	if found := scaleInKey.FindStringSubmatch(s.end.Done); found != nil {
		return found[1]
	}
	return "1"
}
