package page

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// target is something to be reached, on a machine of 2 cores that client and server share.
type target struct {
	measure     string
	on          []Engine // where it counts; none: on mariadb and mysql
	least, most float64  // at least, and go for; where none is given it is only shown
	under       bool     // less is better
	unit        string
	section     string
	scale       float64  // the least scale at which it says something; 0: trueScale
	figures     []figure // the first counts, the others are shown with it
	limited     string   // the case whose use of the processors tells what limits it
	why         string   // what else limits it now
}

// trueScale is from where on a ratio is a verdict: with fewer rows it is mostly what begins and ends a run.
const trueScale = 0.1

// figure is a number from the results of a section.
type figure struct {
	name string
	of   func(s *results) (float64, bool)
}

// targets in the order in which the page has them.
func targets() []target {
	ends := []figure{
		{"", ratio("prescient, ends", FloorName(1))},
		{"batch handler", ratio("prescient, ends, batch handler", FloorName(1))},
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
	more := func(peers ...string) []figure {
		more := against(AmongPending, peers...)
		more[0].name, more[1].name = "with more pending", "with more pending, batch handler"
		return more
	}
	ready := against("", RiverReady)
	ready[0].name = "made available before, so that it has nothing to find"
	most := func(peer string) figure { return figure{"the floor itself, SQL only", ratio(FloorName(1), peer)} }
	mostOfCommits := figure{"the floor at 2 connections in commits as large as a slot run's", ratio(FloorCommitsName, RiverScheduled)}
	everysec := against("", AsynqName("everysec"))
	everysec[0].name, everysec[1].name = "fsync everysec", "fsync everysec, batch handler"
	const endsWhy = "each row is read, called, and looked at again before it is deleted; the floor copies rows inside the server and " +
		"knows nothing of them"
	const floor = "ends a second against the floor at one connection"
	const readingWhy = "who only reads and ends has no lease, looks at nothing again, and loses rows when it dies"
	batched := func(name, suffix string) func(s *results) (float64, bool) {
		var peers []string
		for _, rows := range QueueRows {
			peers = append(peers, QueueBatchName(rows)+suffix)
		}
		return ratio(name+suffix, peers...)
	}
	return []target{
		{measure: fmt.Sprintf("ends a second against reading %d rows and ending them on 4 connections", ReadingRows[0]), least: 0.9, most: 1, section: "ends", limited: "prescient, ends",
			why: readingWhy, figures: []figure{{"", ratio("prescient, ends", ReadingName(ReadingRows[0]))}, {"batch handler", ratio("prescient, ends, batch handler", ReadingName(ReadingRows[0]))},
				{"1 ms away", ratio("prescient, ends"+Near, ReadingName(ReadingRows[0])+Near)}}},
		{measure: fmt.Sprintf("alone on the server, against reading %d rows and ending them", ReadingRows[1]), least: 1, most: 1.1, section: "ends", limited: "prescient, ends, alone on its server",
			why: readingWhy, figures: []figure{{"", ratio("prescient, ends, alone on its server", ReadingName(ReadingRows[1]))},
				{"batch handler", ratio("prescient, ends, batch handler, alone on its server", ReadingName(ReadingRows[1]))},
				{"purge not put off", ratio("prescient, ends, alone on its server, which purges meanwhile", ReadingName(ReadingRows[1]))}}},
		{measure: "against SKIP LOCKED, 100 or 1000 rows a transaction", least: 2, most: 3, unit: "×", section: "queue", limited: "prescient, ends",
			figures: []figure{{"", batched("prescient, ends", "")}, {"batch handler", batched("prescient, ends, batch handler", "")},
				{"with more pending", batched("prescient, ends", AmongPending)}, {"1 ms away", batched("prescient, ends", Near)}}},
		{measure: floor + ", MariaDB", on: []Engine{MariaDB}, least: 0.75, most: 1, section: "ends", limited: "prescient, ends", why: endsWhy, figures: ends},
		{measure: floor + ", MySQL with binlog", on: []Engine{MySQL}, least: 0.6, most: 0.8, section: "ends", limited: "prescient, ends", why: endsWhy, figures: ends},
		{measure: floor + ", MySQL without binlog", on: []Engine{MySQLNoBinlog}, section: "ends", limited: "prescient, ends", figures: ends},
		{measure: "against River on Postgres, jobs due at one instant", least: 5, most: 8, unit: "×", section: "river", limited: "prescient, ends",
			figures: slices.Concat(against("", RiverScheduled), []figure{most(RiverScheduled), mostOfCommits}, more(RiverScheduled), ready[:1], []figure{most(RiverReady)}),
			why: "what the floor itself reaches beside it, without reading, locking or calling anything, is the most that a history row " +
				"for each end leaves room for; in commits like a slot run's the server also purges meanwhile, which a slot run puts off"},
		{measure: "against Asynq on Redis", least: 8, most: 12, unit: "×", section: "asynq", limited: "prescient, ends",
			figures: slices.Concat(against("", AsynqName("always")), more(AsynqName("always")), everysec)},
		{measure: "against SKIP LOCKED row by row on the same server", least: 20, most: 40, unit: "×", section: "queue", limited: "prescient, ends",
			figures: slices.Concat(against("", FloorQueueName(1), FloorQueueName(8)), more(FloorQueueName(1), FloorQueueName(8)))},
		{measure: "moves against ends", least: 0.4, most: 0.6, section: "ends", limited: "prescient, moves",
			why: "the row leaves one slot's pages for another's, in both indexes", figures: []figure{{"", ratio("prescient, moves", "prescient, ends")},
				{"batch handler", ratio("prescient, moves, batch handler", "prescient, ends, batch handler")}}},
		{measure: "Tx handlers against one transaction a job by hand", least: 5, most: 10, unit: "×", section: "tx", limited: "prescient, Tx handler",
			why: "each job_exec sends its own statements, and waits for each answer", figures: []figure{
				{"", ratio("prescient, Tx handler", ByHandName(1), ByHandName(8))},
				{"batch handler", ratio("prescient, Tx batch handler", ByHandName(1), ByHandName(8))},
				{"against 1 connection", ratio("prescient, Tx handler", ByHandName(1))}}},
		{measure: "orders check, batch handler against one query a job", least: 5, most: 10, unit: "×", section: "orders", limited: OrdersBatch,
			why: "what is left is the end of the row", figures: []figure{{"", ratio(OrdersBatch, OrdersEach)}, most(OrdersEach), {"a bare query", ratio(BareBatch, BareEach)}}},
		{measure: "bulk insert against multi-row INSERT by hand", least: 0.9, most: 1, section: "insert", limited: "prescient, InsertMany",
			figures: []figure{{"", ratio("prescient, InsertMany", "multi-row INSERT by hand, 1000 rows each")}}},
		{measure: "time for what is due among 30 million pending against among 1 million", least: 1.3, most: 1.1, under: true, unit: "×", section: "growth", scale: 1,
			why:     "the index on job_key is read at random places, and of 30 million less of it is in the buffer pool",
			figures: []figure{{"", firstToLast("prescient, one handler, among ")}, {"batch handler", firstToLast("prescient, batch handler, among ")}}},
		{measure: "statements of an idle worker a slot", least: 10, most: 5, under: true, section: "idle",
			why:     "a slot with nothing due is looked at and written to the ledger",
			figures: []figure{{"", idleFigure("statements/slot")}, {"and a sweep", idleFigure("statements/sweep")}}},
		{measure: "CPU a row with 4 shards of Vitess against MySQL alone, all processes", on: []Engine{MySQL}, least: 1.2, most: 1.2, under: true, unit: "×", section: "vitess",
			why: "vtgate parses each statement, and vttablet does again; each row passes through both when it is read, and its key when it is locked",
			figures: []figure{{"", cpuRatio(Shards(4), Alone)}, {"2 shards", cpuRatio(Shards(2), Alone)}, {"1 shard", cpuRatio(Shards(1), Alone)},
				{"4 shards, a bucket of each at a time", cpuRatio(Shards(4)+OneBucket, Alone)}}},
		{measure: "the app's plain statement beside a slot run, 99 %, against 5 ms or three times what it takes alone, whichever is more", least: 1, most: 1,
			under: true, unit: "×", section: "guest", figures: felt(Plain, 5, 3)},
		{measure: "a Cancel of a due row, 99 %, against 15 ms or four times what it takes alone, whichever is more", least: 1, most: 1,
			under: true, unit: "×", section: "guest", figures: felt(Cancel, 15, 4)},
		{measure: "memory, slot of 2 million", least: 150, most: 80, under: true, unit: " MB", section: "slots", scale: 1,
			why:     "what is read ahead and not yet committed, and the runtime itself",
			figures: []figure{{"", peakOf("one")}}},
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
			fastest = max(fastest, s.of(other, Record.Rate))
		}
		return s.of(name, Record.Rate) / fastest, s.byCase[name] != nil && fastest > 0
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
		return s.of(worker, func(r Record) float64 { return r.Figures[name] }), s.byCase[worker] != nil
	}
}

// felt is what an app feels at each pace against what it may feel: so many ms, or so many times what it feels alone.
func felt(what string, ms, times float64) (list []figure) {
	of := func(name string) func(s *results) (float64, bool) {
		return func(s *results) (float64, bool) {
			took := func(name string) float64 { return s.of(name, func(r Record) float64 { return r.Figures[P99(what)] }) }
			return took(name) / max(ms, times*took(NoGuest)), s.byCase[name] != nil && s.byCase[NoGuest] != nil
		}
	}
	return []figure{
		{"", of(GuestName("default", 1))}, {"3 workers", of(GuestName("default", 3))},
		{"full pace", of(GuestName("full", 1))}, {"full pace, 3 workers", of(GuestName("full", 3))},
		{"late", of(LateGuestName("default"))}, {"full pace, late", of(LateGuestName("full"))},
	}
}

// peakOf is the memory at the most rows that were due.
func peakOf(form string) func(s *results) (float64, bool) {
	return func(s *results) (peak float64, found bool) {
		rows := 0
		for name, list := range s.byCase {
			if strings.HasPrefix(name, "prescient, "+form+" handler, a slot of ") && list[0].Rows > rows && list[0].Figures["peak MB"] > 0 {
				rows, peak, found = list[0].Rows, s.of(name, func(r Record) float64 { return r.Figures["peak MB"] }), true
			}
		}
		return peak, found
	}
}

// columns are the servers that the page has beside each other.
var columns = []struct {
	engine Engine
	name   string
}{{MariaDB, "MariaDB"}, {MySQL, "MySQL"}}

// cells are a target's results, nil where there are none, by the engine of the column; where it does not count there is no cell.
func (t target) cells(list []*results) map[Engine]*results {
	on := t.on
	if on == nil {
		on = []Engine{MariaDB, MySQL}
	}
	cells := make(map[Engine]*results)
	for _, e := range on {
		column := e
		if e == MySQLNoBinlog {
			column = MySQL
		}
		cells[column] = find(list, t.section, e)
	}
	return cells
}

// targetTable is the part of the page about what is to be reached.
func targetTable(list []*results) string {
	var b strings.Builder
	b.WriteString("\n## What to reach\n\nOn a machine of 2 cores that client and server share; each a ratio within one run, of medians. " +
		"The first number is that of one-job handlers, and counts; of several peers, or settings of one, the fastest.\n\n" +
		"| measure | at least | go for | on MariaDB | on MySQL | what limits it now |\n|---|--:|--:|---|---|---|\n")
	for _, t := range targets() {
		fmt.Fprintf(&b, "| %s | %s | %s |", t.measure, t.limit(t.least), t.limit(t.most))
		cells := t.cells(list)
		var limits []string
		shown := false
		for _, c := range columns {
			cell := ""
			s, counts := cells[c.engine]
			if counts {
				cell = t.reached(s)
				_, measured := t.value(s)
				shown = shown || measured
			}
			fmt.Fprintf(&b, " %s |", cell)
			if text := s.busy(t.limited); text != "" {
				limits = append(limits, c.name+": "+text)
			}
		}
		if t.why != "" && shown {
			limits = append(limits, t.why)
		}
		fmt.Fprintf(&b, " %s |\n", strings.Join(limits, "; "))
	}
	return b.String()
}

// busy says what the processors did meanwhile: whether they limit a case, or it waits for something else.
func (s *results) busy(name string) string {
	if s == nil || s.byCase[name] == nil || s.machine() == nil {
		return ""
	}
	cores := float64(max(s.machine().Cores, 1))
	share := s.of(name, func(r Record) float64 { return (r.ClientCPU + r.ServerCPU) / r.Seconds / cores })
	each := func(cpu func(r Record) float64) float64 {
		return s.of(name, func(r Record) float64 { return cpu(r) * 1e6 / float64(max(r.Rows, 1)) })
	}
	what := "the processors"
	if share < 0.75 {
		what = "waiting for the disk and for answers"
	}
	return fmt.Sprintf("%s (busy %.0f %%; %s µs a row in the worker, %s in the server)", what, 100*share,
		precise(each(func(r Record) float64 { return r.ClientCPU })), precise(each(func(r Record) float64 { return r.ServerCPU })))
}

// targetChart has a bar for each target and server: how far it was reached, where 1 is what is to be reached at least.
func targetChart(list []*results) string {
	var bars []bar
	for _, t := range targets() {
		if t.least == 0 {
			continue
		}
		cells := t.cells(list)
		for _, c := range columns {
			s, counts := cells[c.engine]
			if !counts {
				continue
			}
			one := bar{name: t.measure, label: "not measured"}
			if t.on == nil {
				one.name += ", " + c.name
			}
			if value, measured := t.value(s); measured {
				one.value = value / t.least
				if t.under {
					one.value = t.least / max(value, 1e-9)
				}
				one.label = fmt.Sprintf("%s%s (%s)", precise(value), t.unit, strings.TrimSpace("at least "+t.limit(t.least)))
				if t.under {
					one.label = fmt.Sprintf("%s%s (%s)", precise(value), t.unit, t.limit(t.least))
				}
				if !t.says(s) {
					one.label += ", a try-out at scale " + scaleOf(s)
				}
			}
			bars = append(bars, one)
		}
	}
	return chartTo("What was reached; the line is what is to be reached at least", bars, 1, 3)
}

// find is the results of a section on an engine: the latest complete ones, or else what there is; nil for none.
func find(list []*results, section string, on Engine) (found *results) {
	for _, s := range list {
		if s.section != section || s.engine() != on {
			continue
		}
		if found == nil || found.end == nil || s.end != nil && s.end.At.After(found.end.At) {
			found = s
		}
	}
	return found
}

// value is the number that counts.
func (t target) value(s *results) (float64, bool) {
	if s == nil {
		return 0, false
	}
	return t.figures[0].of(s)
}

// says is whether results at their scale are a verdict.
func (t target) says(s *results) bool {
	scale, err := strconv.ParseFloat(scaleOf(s), 64)
	return err == nil && scale >= cmp.Or(t.scale, trueScale)
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
	value, measured := t.value(s)
	if !measured {
		return "not measured"
	}
	var more []string
	for _, f := range t.figures[1:] {
		if v, measured := f.of(s); measured {
			more = append(more, fmt.Sprintf("%s %s%s", f.name, precise(v), t.unit))
		}
	}
	verdict := t.verdict(value)
	if scale := scaleOf(s); !t.says(s) {
		more = append(more, "a try-out at scale "+scale)
		verdict = ""
	} else if scale != "1" {
		more = append(more, "scale "+scale)
	}
	if s.end == nil {
		more = append(more, "not complete")
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

var scaleInKey = regexp.MustCompile(` scale=(\S+)`)

// scaleOf is the --scale of a section.
func scaleOf(s *results) string {
	for _, r := range []*Record{s.begin, s.end} {
		if r == nil {
			continue
		}
		if found := scaleInKey.FindStringSubmatch(r.Begin + r.Done); found != nil {
			return found[1]
		}
	}
	return "1"
}
