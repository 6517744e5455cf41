package forecast

import (
	"cmp"
	"encoding/binary"
	"maps"
	"math"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/tally"
)

// maxExecs is how many job_execs of a slot or day are told apart. The rest is tally.Other.
const maxExecs = 20

// mostRows is more than any table has. Keys that an app has made up itself, as it may in the dialect plain, could make of a few rows any number.
const mostRows = 1e12

// count is how many rows there are of something, and the standard error of that: 0 where it is exact, or nobody knows.
type count struct{ n, sigma float64 }

func (c count) due() int64  { return rounded(c.n) }
func (c count) low() int64  { return rounded(c.n - 2*c.sigma) }
func (c count) high() int64 { return rounded(c.n + 2*c.sigma) }

// rounded is a number as the table takes it.
func rounded(n float64) int64 { return int64(math.Round(min(max(n, 0), mostRows))) }

// counted is how many rows a slot or day has, all in all and by job_exec.
type counted struct {
	how   How
	all   count
	execs map[string]count
}

// keyed is a row.
type keyed struct {
	slot    time.Time // where several are read
	key     prescient.Key
	jobExec string
	off     float64 // standard error of that name, where it is a guess
}

// entityBytes of a key are the hash of its entity: the checks of one entity lie together.
const entityBytes = 12

// inSlot counts a slot by its first rows, in the order of their keys: some most, and those on to the end of an entity. Where there is one more, its
// key says which share of all keys was seen. Entities are spread evenly over the keys, so what was seen of n entities is off by 1/√n of it, where
// each has one check; where some have more, by more. Where the rows end before their last entity does, nobody knows how many that has: then it
// is counted as what was seen of it, and the rest as the least that is likely.
func inSlot(rows []keyed, most int) counted { return seenOf(rows, most, allKeys).count() }

// seen are rows of a part of the keys, in the order of these.
type seen struct {
	rows  []keyed // to the end of an entity
	share float64 // of the part; 1 where that has no more
	last  []keyed // of an entity that goes on
}

// seenOf divides the first rows of a part of the keys.
func seenOf(rows []keyed, most int, of part) seen {
	if len(rows) <= most {
		return seen{rows: rows, share: 1}
	}
	for most > 0 && most < len(rows) && entity(rows[most-1]) == entity(rows[most]) {
		most++
	}
	if most < len(rows) {
		return seen{rows: rows[:most], share: of.before(rows, most)}
	}
	begun := len(rows) - 1
	for begun > 0 && entity(rows[begun-1]) == entity(rows[begun]) {
		begun--
	}
	return seen{rows: rows[:begun], share: of.before(rows, begun), last: rows[begun:]}
}

// count counts what the part has.
func (s seen) count() counted {
	switch {
	case len(s.last) > 0:
	case s.share == 1:
		return inShare(s.rows, 1, Exact)
	default:
		return inShare(s.rows, s.share, Sampled)
	}
	c, last := inShare(s.rows, s.share, AtLeast), inShare(s.last, 1, Exact)
	least := func(of, last, seen count) count { return count{n: max(of.n-2*of.sigma+last.n, seen.n+last.n)} }
	all := inShare(s.rows, 1, Exact)
	c.all = least(c.all, last.all, all.all)
	for name := range last.execs {
		if _, there := c.execs[name]; !there { // it is of the last alone
			c.execs[name] = count{}
		}
	}
	for name, of := range c.execs {
		c.execs[name] = least(of, last.execs[name], all.execs[name])
	}
	return c
}

// part is a part of the keys, as they lie among all.
type part struct{ from, width float64 }

var allKeys = part{0, 1}

// almostAll is a share that is not all.
const almostAll = 1 - 1e-9

// before is the share of it before a row.
func (p part) before(rows []keyed, n int) float64 {
	return min(max((place(rows[n].key)-p.from)/p.width, float64(max(n, 1))/mostRows), almostAll)
}

// inShare counts by the rows that a share of the keys has.
func inShare(rows []keyed, share float64, how How) counted {
	c := counted{how: how, execs: make(map[string]count)}
	sum := func(of *count, cluster float64) {
		of.n += cluster
		of.sigma += cluster * cluster
	}
	for _, entity := range byEntity(rows) {
		sum(&c.all, float64(len(entity)))
		some := make(map[string]float64)
		for _, row := range entity {
			some[row.jobExec]++
		}
		for name, n := range some {
			of := c.execs[name]
			sum(&of, n)
			c.execs[name] = of
		}
	}
	scaled := func(of count) count {
		// The seen share has n/share for its estimate. Its variance is that of what was seen, and of what was not.
		return count{n: min(of.n/share, mostRows), sigma: min(math.Sqrt(of.sigma*(1-share))/share, mostRows)}
	}
	c.all = scaled(c.all)
	for name, of := range c.execs {
		c.execs[name] = scaled(of)
	}
	return c
}

// add counts another part of the keys with it.
func (c *counted) add(of counted) {
	c.how = worse(c.how, of.how)
	c.all = c.all.plus(of.all)
	for name, n := range of.execs {
		c.execs[name] = c.execs[name].plus(n)
	}
}

func (c count) plus(of count) count {
	return count{n: min(c.n+of.n, mostRows), sigma: math.Hypot(c.sigma, of.sigma)}
}

// worse is the one of two ways that says less.
func worse(a, b How) How {
	ways := []How{Exact, Sampled, Estimated, AtLeast}
	return ways[max(slices.Index(ways, a), slices.Index(ways, b))]
}

// entity is the part of a row's key that is its entity's.
func entity(row keyed) [entityBytes]byte { return [entityBytes]byte(row.key[:]) }

// byEntity divides rows in the order of their keys by their entities.
func byEntity(rows []keyed) (all [][]keyed) {
	begin := 0
	for i := range rows {
		if i+1 == len(rows) || entity(rows[i]) != entity(rows[i+1]) {
			all = append(all, rows[begin:i+1])
			begin = i + 1
		}
	}
	return all
}

// place is where a key lies among all: 0 to 1.
func place(key prescient.Key) float64 {
	return float64(binary.BigEndian.Uint64(key[:8])) / (1 << 63) / 2
}

// divided counts a time that has so many rows as a few of them are.
func divided(names []string, n float64, how How) counted {
	n = min(n, mostRows)
	c := counted{how: how, all: count{n: n}, execs: make(map[string]count)}
	for _, name := range names {
		of := c.execs[name]
		of.n += n / float64(len(names))
		c.execs[name] = of
	}
	return c
}

// demand is what a slot or day is to do.
type demand struct {
	counted
	occurrences map[string]float64
}

// calls are how many calls it has, by job_exec.
func (p demand) calls() map[string]float64 {
	calls := make(map[string]float64, len(p.execs))
	for name, c := range p.execs {
		calls[name] += c.n
	}
	for name, n := range p.occurrences {
		calls[name] += n
	}
	return calls
}

// lines are those of its job_execs, the busiest first, which are told apart. An app may write names that are none: the server pads keys, and one
// name may be that of the rest. These are among the rest.
func (p demand) lines(execs map[string]exec) []Line {
	calls := p.calls()
	names := slices.SortedFunc(maps.Keys(calls), func(a, b string) int { return cmp.Or(cmp.Compare(calls[b], calls[a]), cmp.Compare(a, b)) })
	var lines []Line
	var due, repeats, occurrences, variance float64 // of the rest
	for _, name := range names {
		c, again := p.execs[name], p.execs[name].n*execs[name].again
		if len(lines) < maxExecs && prescient.ValidIdentifier("job_exec", name) == nil {
			lines = append(lines, p.line(name, c, again, p.occurrences[name]))
			continue
		}
		due, repeats, occurrences, variance = due+c.n, repeats+again, occurrences+p.occurrences[name], variance+c.sigma*c.sigma
	}
	if len(names) > len(lines) {
		lines = append(lines, p.line(tally.Other, count{n: due, sigma: math.Sqrt(variance)}, repeats, occurrences))
	}
	return lines
}

func (p demand) line(name string, c count, repeats, occurrences float64) Line {
	return Line{JobExec: name, Due: c.due(), Low: c.low(), High: c.high(), Repeats: rounded(repeats), Occurrences: rounded(occurrences), How: p.how}
}
