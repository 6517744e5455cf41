package page

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// results are the records of one section on one server, by case.
type results struct {
	section, server string
	cases           []string // in the order in which they were measured
	byCase          map[string][]Record
	begin, end      *Record // nil where the run did not say, or was stopped
}

// Section is a section as the page has it, in the order in which they are shown.
type Section struct{ Name, About string }

// latest sorts records by section and server. Of a section that was measured several times the last complete one counts,
// and one that was stopped only where there is none.
func latest(records []Record, sections []Section) []*results {
	var list, runs []*results // runs: the one under way of each in list
	find := func(r Record) int {
		for i, have := range list {
			if have.section == r.Section && have.server == r.Server {
				return i
			}
		}
		list = append(list, nil)
		runs = append(runs, nil)
		return len(list) - 1
	}
	for _, r := range records {
		i := find(r)
		if runs[i] == nil || runs[i].end != nil || r.Begin != "" {
			runs[i] = &results{section: r.Section, server: r.Server, byCase: make(map[string][]Record)}
		}
		run := runs[i]
		if list[i] == nil || list[i].end == nil {
			list[i] = run
		}
		switch {
		case r.Begin != "":
			run.begin = &r
		case r.Done != "":
			run.end = &r
			list[i] = run
		default:
			if run.byCase[r.Case] == nil {
				run.cases = append(run.cases, r.Case)
			}
			run.byCase[r.Case] = append(run.byCase[r.Case], r)
		}
	}
	order := func(name string) int {
		return slices.IndexFunc(sections, func(s Section) bool { return s.Name == name })
	}
	slices.SortStableFunc(list, func(a, b *results) int {
		return cmp.Or(cmp.Compare(order(a.section), order(b.section)), strings.Compare(a.server, b.server))
	})
	return list
}

// engine is what the section was measured on.
func (s *results) engine() Engine {
	for _, r := range []*Record{s.begin, s.end} {
		if r != nil {
			return Engine(r.Engine)
		}
	}
	for _, list := range s.byCase {
		return Engine(list[0].Engine)
	}
	return ""
}

// machine is where it was measured; nil where that is not known.
func (s *results) machine() *machine {
	for _, r := range []*Record{s.end, s.begin} {
		if r != nil && r.Machine != nil {
			return r.Machine
		}
	}
	return nil
}

// of is the median over the rounds of a case.
func (s *results) of(name string, figure func(r Record) float64) float64 {
	var all []float64
	for _, r := range s.byCase[name] {
		all = append(all, figure(r))
	}
	return Median(all)
}

// Write writes bench.md and its charts.
func Write(dir string, records []Record, sections []Section) error {
	var b strings.Builder
	b.WriteString("# How fast\n\n![What was reached](targets.svg)\n\nWritten by `scripts/bench/run` from `results.jsonl`. Medians over the rounds of one run, in which the contestants take turns;\n" +
		"ratios are within that run. CPU is that of all processes of the client and of the server, in µs a row: it says what a row\ncosts also where something else kept the machine busy, which the rates do not.\n")
	if m := lastMachine(records); m != nil {
		fmt.Fprintf(&b, "\nMachine: %s, %d cores, %s, %s, %s. Load when the last section ended: %s.\n", m.CPU, m.Cores, m.Memory, m.OS, m.Go, m.Load)
	}
	list := latest(records, sections)
	b.WriteString(targetTable(list))
	if err := os.WriteFile(filepath.Join(dir, "targets.svg"), []byte(targetChart(list)), 0o644); err != nil {
		return err
	}
	for _, s := range list {
		fmt.Fprintf(&b, "\n## %s on %s\n\n", s.section, s.server)
		if i := slices.IndexFunc(sections, func(of Section) bool { return of.Name == s.section }); i >= 0 {
			fmt.Fprintf(&b, "%s%s.\n\n", strings.ToUpper(sections[i].About[:1]), sections[i].About[1:])
		}
		if s.end == nil {
			b.WriteString("Not complete: the run was stopped.\n\n")
		}
		s.how(&b)
		if len(s.cases) == 0 {
			continue
		}
		var err error
		switch {
		case isRates(s):
			err = s.rates(&b, dir)
		case isTimes(s):
			s.figures(&b)
		default:
			s.table(&b)
		}
		if err != nil {
			return err
		}
		if text, measured := s.billion(); measured {
			b.WriteString(text)
		}
	}
	return os.WriteFile(filepath.Join(dir, "bench.md"), []byte(b.String()), 0o644)
}

// how says by which command a section was measured, at which scale, when, and where.
func (s *results) how(b *strings.Builder) {
	if s.begin != nil && s.begin.Command != "" {
		fmt.Fprintf(b, "    %s\n\n", s.begin.Command)
	}
	fmt.Fprintf(b, "Scale %s", scaleOf(s))
	if s.end != nil {
		fmt.Fprintf(b, "; measured %s", s.end.At.Format("2006-01-02 15:04"))
	}
	if m := s.machine(); m != nil {
		if s.begin != nil && s.begin.Machine != nil {
			fmt.Fprintf(b, "; load average before: %s", s.begin.Machine.Load)
		}
		if s.end != nil {
			fmt.Fprintf(b, "; at the end: %s", m.Load)
		}
	}
	b.WriteString(".\n\n")
}

func lastMachine(records []Record) *machine {
	for _, r := range slices.Backward(records) {
		if r.Machine != nil {
			return r.Machine
		}
	}
	return nil
}

func isRates(s *results) bool { return len(s.cases) > 0 && s.byCase[s.cases[0]][0].Seconds > 0 }

// isTimes says whether it was measured how long things take at different sizes.
func isTimes(s *results) bool {
	if len(s.cases) == 0 {
		return false
	}
	_, is := s.byCase[s.cases[0]][0].Figures["median_ms"]
	return is
}

// table has a column for each figure.
func (s *results) table(b *strings.Builder) {
	var names []string
	for _, list := range s.byCase {
		for name := range list[0].Figures {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	slices.Sort(names)
	fmt.Fprintf(b, "| | %s | |\n|---|%s---|\n", strings.Join(names, " | "), strings.Repeat("--:|", len(names)))
	for _, name := range s.cases {
		fmt.Fprintf(b, "| %s", name)
		first := s.byCase[name][0]
		for _, figure := range names {
			cell := ""
			if _, has := first.Figures[figure]; has {
				cell = Short(s.of(name, func(r Record) float64 { return r.Figures[figure] }))
			}
			fmt.Fprintf(b, " | %s", cell)
		}
		fmt.Fprintf(b, " | %s |\n", first.Note)
	}
}

// rates is a table and a chart of rows a second; the first case is what the others are compared with.
func (s *results) rates(b *strings.Builder, dir string) error {
	base := s.of(s.cases[0], Record.Rate)
	fmt.Fprintf(b, "| | rows | rows/s | ratio | client CPU µs/row | server CPU µs/row | |\n|---|--:|--:|--:|--:|--:|---|\n")
	var bars []bar
	for _, name := range s.cases {
		if s.byCase[name][0].Seconds == 0 { // what was not timed
			fmt.Fprintf(b, "| %s | | | | | | %s |\n", name, s.more(name))
			continue
		}
		rate := s.of(name, Record.Rate)
		each := func(cpu func(r Record) float64) float64 {
			return s.of(name, func(r Record) float64 { return cpu(r) * 1e6 / float64(max(r.Rows, 1)) })
		}
		fmt.Fprintf(b, "| %s | %d | %.0f | %.2f | %.1f | %.1f | %s |\n", name, s.byCase[name][0].Rows, rate, rate/base,
			each(func(r Record) float64 { return r.ClientCPU }), each(func(r Record) float64 { return r.ServerCPU }), s.more(name))
		bars = append(bars, bar{name, rate, fmt.Sprintf("%s/s", Short(rate))})
	}
	file := strings.NewReplacer(" ", "-", "/", "-", "+", "-", "(", "", ")", "").Replace(s.section+"-"+s.server) + ".svg"
	fmt.Fprintf(b, "\n![%s on %s](%s)\n", s.section, s.server, file)
	return os.WriteFile(filepath.Join(dir, file), []byte(chart(s.section+" on "+s.server+": rows a second", bars)), 0o644)
}

// more lists what else was measured of a case.
func (s *results) more(name string) string {
	var parts []string
	first := s.byCase[name][0]
	for _, figure := range slices.Sorted(maps.Keys(first.Figures)) {
		parts = append(parts, fmt.Sprintf("%s %.4g", figure, s.of(name, func(r Record) float64 { return r.Figures[figure] })))
	}
	if first.Note != "" {
		parts = append(parts, first.Note)
	}
	return strings.Join(parts, ", ")
}

// figures is a table of what took how long at which size.
func (s *results) figures(b *strings.Builder) {
	var sizes []int
	for _, list := range s.byCase {
		for _, r := range list {
			if !slices.Contains(sizes, r.Rows) {
				sizes = append(sizes, r.Rows)
			}
		}
	}
	slices.Sort(sizes)
	b.WriteString("Milliseconds, the median of several times.\n\n|")
	for _, size := range sizes {
		fmt.Fprintf(b, " | %s rows", Short(float64(size)))
	}
	b.WriteString(" | |\n|---" + strings.Repeat("|--:", len(sizes)) + "|---|\n")
	for _, name := range s.cases {
		fmt.Fprintf(b, "| %s", name)
		note := ""
		for _, size := range sizes {
			cell := ""
			for _, r := range s.byCase[name] {
				if r.Rows == size {
					cell, note = fmt.Sprintf("%.1f", r.Figures["median_ms"]), r.Note
				}
			}
			fmt.Fprintf(b, " | %s", cell)
		}
		fmt.Fprintf(b, " | %s |\n", note)
	}
}
