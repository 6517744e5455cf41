package forecast

import (
	"bytes"
	"cmp"
	"database/sql"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

const (
	// sampledParts of the keys have sampledRows each in the sample: so one entity with very many checks takes the place of the others in one.
	sampledParts = 8
	sampledRows  = 2_000
	// namedTails are those whose job_execs are looked up.
	namedTails = 200
)

// sample is what is known of all that is pending: rows of parts of the keys, each in the order of slots and keys.
type sample []seen

// allOf is a sample that has every row of some time.
func allOf(rows []keyed) sample {
	rows = slices.Clone(rows)
	slices.SortFunc(rows, bySlot)
	return sample{{rows: rows, share: 1}}
}

func byKey(a, b keyed) int { return bytes.Compare(a.key[:], b.key[:]) }

func bySlot(a, b keyed) int { return cmp.Or(a.slot.Compare(b.slot), byKey(a, b)) }

// sample reads one. The index of keys has the slots as well, so that it reads no row.
func (r *reader) sample() (sample, error) {
	var looks []any
	for i := range sampledParts {
		first, last := store.BucketRange(i, sampledParts)
		looks = append(looks, first[:], last[:], sampledRows+1)
	}
	var rows []keyed
	err := r.uncommitted(func(r *reader) error {
		for half := range slices.Chunk(looks, len(looks)/2) { // Vitess answers a question with 10,000 rows at most
			some, err := ask(r, "forecast/keys", sampledParts/2, func(row *keyed) []any { return []any{&row.slot, store.Key(&row.key)} }, half...)
			if err != nil {
				return err
			}
			rows = append(rows, some...)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	slices.SortFunc(rows, byKey)
	if err := r.name(rows); err != nil {
		return nil, err
	}
	return parted(rows), nil
}

// uncommitted reads what is there now. An index has no versions: while an app's transaction is open, the server looks for each entry of a page that was
// written to since at its row, which takes 40 times as long. Servers of the dialect plain may not know it, and Vitess has the session keep it.
func (r *reader) uncommitted(do func(r *reader) error) error {
	if r.tables.Dialect == text.Plain || r.tables.Server.Placed() {
		return do(r)
	}
	tx, err := r.pool.BeginTx(r.ctx, &sql.TxOptions{Isolation: sql.LevelReadUncommitted, ReadOnly: true})
	if err != nil {
		return fmt.Errorf("reading a sample: %w", err)
	}
	defer func() { _ = store.Rollback(tx) }() // it has only read
	within := *r
	within.db = tx
	err = do(&within)
	r.read = within.read
	return err
}

// parted are the first rows of each part of the keys, which come in the order of these.
func parted(rows []keyed) sample {
	s := make(sample, sampledParts)
	for i := range s {
		_, last := store.BucketRange(i, sampledParts)
		end, _ := slices.BinarySearchFunc(rows, last, func(row keyed, last prescient.Key) int { return cmp.Or(bytes.Compare(row.key[:], last[:]), -1) })
		s[i] = seenOf(rows[:end], sampledRows-sampledRows/8, part{float64(i) / sampledParts, 1.0 / sampledParts})
		slices.SortFunc(s[i].rows, bySlot)
		slices.SortFunc(s[i].last, bySlot)
		rows = rows[end:]
	}
	return s
}

// tail is the part of a key that is its job_exec's and tag's.
type tail [len(prescient.Key{}) - entityBytes]byte

func tailOf(row keyed) tail { return tail(row.key[entityBytes:]) }

// name tells rows their job_execs: those with one tail have one, and of the tails that most have it is looked up. The others, where each check
// has a tag of its own, are named as the last ones that were: tails are hashes.
func (r *reader) name(rows []keyed) error {
	having, one := make(map[tail]int), make(map[tail]prescient.Key)
	for _, row := range rows {
		having[tailOf(row)]++
		one[tailOf(row)] = row.key
	}
	tails := slices.SortedFunc(maps.Keys(having), func(a, b tail) int { return cmp.Or(cmp.Compare(having[b], having[a]), bytes.Compare(a[:], b[:])) })
	if len(tails) == 0 {
		return nil
	}
	some := tails[:min(len(tails), namedTails)]
	keys := literal.Keys(some, func(t tail) prescient.Key { return one[t] })
	named, err := store.Rows(r.ctx, r.db, "forecast/names", r.tables.Fill("forecast/names", "{keys}", keys), func(row *keyed) []any { return []any{store.Key(&row.key), &row.jobExec} })
	if err != nil {
		return err
	}
	r.read += int64(len(named))
	names := make(map[tail]string)
	for _, row := range named {
		names[tailOf(row)] = row.jobExec
	}
	var rare []string
	alike := make(map[string]float64)
	for _, t := range some {
		if name, known := names[t]; known && having[t] == having[some[len(some)-1]] {
			rare = append(rare, name)
			alike[name]++
		}
	}
	guessed := make(map[tail]string)
	for i, t := range tails {
		if _, known := names[t]; !known && len(rare) > 0 {
			guessed[t] = rare[i%len(rare)]
		}
	}
	for i, row := range rows {
		name, guess := guessed[tailOf(row)]
		if guess {
			rows[i].jobExec, rows[i].off = name, 1/math.Sqrt(alike[name])
			continue
		}
		rows[i].jobExec = names[tailOf(row)]
	}
	return nil
}

// within are the rows of some time, in the order of their keys.
func (s seen) within(from, before time.Time) seen {
	some := func(rows []keyed) []keyed {
		ofTime := func(row keyed, at time.Time) int { return row.slot.Compare(at) }
		begin, _ := slices.BinarySearchFunc(rows, from, ofTime)
		end, _ := slices.BinarySearchFunc(rows[begin:], before, ofTime)
		in := slices.Clone(rows[begin : begin+end])
		slices.SortFunc(in, byKey)
		return in
	}
	return seen{rows: some(s.rows), share: s.share, last: some(s.last)}
}

// of counts what is pending for some time.
func (s sample) of(from, before time.Time) counted {
	c := divided(nil, 0, Exact)
	var share float64
	for _, part := range s {
		c.add(part.within(from, before).count())
		share += part.share / float64(len(s))
	}
	off := make(map[string]float64)
	s.each(from, before, func(row keyed, n float64) { off[row.jobExec] += n * row.off })
	for name, sigma := range off {
		if sigma > 0 {
			c.execs[name], c.how = c.execs[name].plus(count{sigma: sigma}), worse(c.how, Sampled)
		}
	}
	if c.all.n == 0 && c.how == Sampled { // up to three times as many as one of the sample stands for, 19 times of 20
		c.all.sigma = 1.5 / share
	}
	return c
}

// each calls do with every row of some time, and how many it stands for.
func (s sample) each(from, before time.Time, do func(row keyed, n float64)) {
	for _, part := range s {
		some := part.within(from, before)
		for _, row := range some.rows {
			do(row, 1/some.share)
		}
		for _, row := range some.last {
			do(row, 1)
		}
	}
}

// seen is how many rows of some time it has.
func (s sample) seen(from, before time.Time) (n int) {
	s.each(from, before, func(keyed, float64) { n++ })
	return n
}
