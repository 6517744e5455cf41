package forecast

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"testing"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/tally"
)

// inOrder are rows of entities in the order of their keys, each entity with so many checks.
func inOrder(series string, entities, checks int) (rows []keyed) {
	for i := range entities {
		for check := range checks {
			name := fmt.Sprint("exec", i%4)
			rows = append(rows, keyed{key: prescient.KeyOf(rig.Order(fmt.Sprint(series, i)), name, fmt.Sprint(check)), jobExec: name})
		}
	}
	slices.SortFunc(rows, func(a, b keyed) int { return bytes.Compare(a.key[:], b.key[:]) })
	return rows
}

func TestFewRowsAreCounted(t *testing.T) {
	rows := inOrder("", 40, 1)
	c := inSlot(rows, 40)
	if c.how != Exact || c.all != (count{n: 40}) || c.execs["exec0"] != (count{n: 10}) || len(c.execs) != 4 {
		t.Errorf("%+v", c)
	}
	if none := inSlot(nil, 40); none.how != Exact || none.all.n != 0 || len(none.execs) != 0 {
		t.Errorf("%+v", none)
	}
}

// Of a hundred slots the estimates are right on average, and the most of them within two of their standard errors; also where
// the checks of an entity lie together.
func TestAShareOfTheKeysTellsHowManyThereAre(t *testing.T) {
	for _, test := range []struct{ entities, checks, most int }{{1500, 1, 150}, {1500, 1, 25}, {250, 6, 200}, {300, 1, 290}} {
		var sum, sigma float64
		within, withinExec := 0, 0
		const slots = 100
		for slot := range slots {
			c := inSlot(inOrder(fmt.Sprint(slot, "/"), test.entities, test.checks), test.most)
			all := float64(test.entities * test.checks)
			sum += c.all.n / all
			sigma += c.all.sigma / all
			if c.how != Sampled {
				t.Fatalf("%+v", c)
			}
			if math.Abs(c.all.n-all) <= 2*c.all.sigma+1 {
				within++
			}
			if math.Abs(c.execs["exec1"].n-all/4) <= 2*c.execs["exec1"].sigma+1 {
				withinExec++
			}
		}
		mean, spread := sum/slots, sigma/slots
		t.Logf("%+v: on average %.3f of what there is, standard error %.3f, %d of %d within two", test, mean, spread, within, slots)
		if math.Abs(mean-1) > 4*spread/math.Sqrt(slots)+0.005 {
			t.Errorf("%+v: the estimates are %.3f of what there is", test, mean)
		}
		if within < 88 || withinExec < 80 {
			t.Errorf("%+v: %d and, of one job_exec, %d of %d are within two standard errors", test, within, withinExec, slots)
		}
	}
}

// Of an entity that goes on beyond the rows that were read nobody knows how many checks it has, so what was seen is the least, not a share.
func TestAnEntityThatGoesOnIsCountedAsTheLeast(t *testing.T) {
	large := prescient.KeyOf(rig.Order("large"), "large", "")
	for _, test := range []struct{ before, seen, most int }{{0, 60, 50}, {40, 60, 50}, {40, 11, 50}, {40, 60, 40}} {
		var rows []keyed
		for i := range test.before { // evenly in the first quarter of the keys
			rows = append(rows, keyed{key: prescient.Key{0: byte(i), 9: 1}, jobExec: "one"})
		}
		for i := range test.seen {
			key := large
			key[0], key[15] = 0x40, byte(i)
			rows = append(rows, keyed{key: key, jobExec: "large"})
		}
		c := inSlot(rows, test.most)
		if test.most == test.before { // the entity does not belong to what was seen
			if c.how != Sampled || c.all.due() < 155 || c.all.due() > 165 {
				t.Errorf("%+v: %+v", test, c)
			}
			continue
		}
		if seen := int64(test.before + test.seen); c.how != AtLeast || c.all.due() < seen || c.all.low() != c.all.high() || c.all.due() > int64(4*test.before+test.seen) {
			t.Errorf("%+v: %+v", test, c)
		}
		if c.execs["large"] != (count{n: float64(test.seen)}) || c.execs["one"].due() < int64(test.before) {
			t.Errorf("%+v: %+v", test, c)
		}
	}
}

// An app may write what it likes: keys that are no hashes bound nothing, and make no number that the table does not take.
func TestKeysThatAreNoHashesMakeNoWildNumbers(t *testing.T) {
	rows := make([]keyed, 30)
	for i := range rows {
		rows[i] = keyed{key: prescient.Key{11: byte(i)}, jobExec: fmt.Sprint("exec", i)}
	}
	c := inSlot(rows, 25)
	p := demand{counted: c}
	lines := p.lines(nil)
	if c.all.due() > mostRows || c.all.high() > mostRows || c.all.low() < 0 || len(lines) != maxExecs+1 || lines[maxExecs].JobExec != tally.Other {
		t.Errorf("%+v, %d lines", c.all, len(lines))
	}
}

func TestTheRestOfManyJobExecsIsOneLine(t *testing.T) {
	p := demand{counted: divided(nil, 0, Exact), occurrences: map[string]float64{"late": 7}}
	for i := range 25 {
		p.execs[fmt.Sprintf("exec%02d", i)] = count{n: float64(100 - i), sigma: 1}
	}
	lines := p.lines(map[string]exec{"exec00": {again: 0.25}, "exec24": {again: 1}})
	other := lines[len(lines)-1]
	if len(lines) != 21 || lines[0] != (Line{JobExec: "exec00", Due: 100, Low: 98, High: 102, Repeats: 25, How: Exact}) {
		t.Errorf("%+v", lines)
	}
	if want := (Line{JobExec: tally.Other, Due: 80 + 79 + 78 + 77 + 76, Low: 386, High: 394, Repeats: 76, Occurrences: 7, How: Exact}); other != want {
		t.Errorf("%+v; want %+v", other, want)
	}
}

func TestAnEstimateIsDividedAsASampleIs(t *testing.T) {
	c := divided([]string{"a", "b", "a", "a"}, 1000, Estimated)
	if c.how != Estimated || c.all.n != 1000 || c.execs["a"].n != 750 || c.execs["b"].n != 250 || c.execs["a"].sigma != 0 {
		t.Errorf("%+v", c)
	}
}

func TestNamesThatAreNoneAreAmongTheRest(t *testing.T) {
	p := demand{counted: divided([]string{"a", "a", "a", "a ", "(other)", "", "b"}, 7, Exact)}
	want := []Line{{JobExec: "a", Due: 3, Low: 3, High: 3, How: Exact}, {JobExec: "b", Due: 1, Low: 1, High: 1, How: Exact}, {JobExec: tally.Other, Due: 3, Low: 3, High: 3, How: Exact}}
	if lines := p.lines(nil); !slices.Equal(lines, want) {
		t.Errorf("%+v; want %+v", lines, want)
	}
}
