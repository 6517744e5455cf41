package tally

import "maps"

// Books are the lines of one bucket, as they are committed. One holder of its lease writes them at a time.
type Books struct {
	lines map[Of]*Line
	kinds map[string]int // of lines, by job_exec
}

// Draft is what a transaction adds to the books. Once it is committed, Take takes it in.
type Draft struct {
	books   *Books
	changed map[Of]*Line
	kinds   map[string]int
	all     int // lines, with those that are new
	of      Of  // of the last check
	line    *Line
}

// Draft begins one.
func (b *Books) Draft() *Draft {
	kinds := make(map[string]int, len(b.kinds))
	maps.Copy(kinds, b.kinds)
	return &Draft{books: b, changed: make(map[Of]*Line), kinds: kinds, all: len(b.lines)}
}

// Take takes in what was committed.
func (b *Books) Take(d *Draft) {
	if b.lines == nil {
		b.lines = make(map[Of]*Line, len(d.changed))
	}
	maps.Copy(b.lines, d.changed)
	b.kinds = d.kinds
}

// Note counts a check.
func (d *Draft) Note(n Noted) {
	of := Of{JobExec: n.Job.JobExec, EntityName: n.Job.EntityName}
	if d.line == nil || of != d.of {
		d.of, d.line = of, d.lineFor(of)
	}
	d.line.note(n)
}

// lineFor returns the line in which a check is counted: a copy of the one that is committed.
func (d *Draft) lineFor(of Of) *Line {
	of = d.place(of)
	if line := d.changed[of]; line != nil {
		return line
	}
	line := NewLine()
	if known := d.books.lines[of]; known != nil {
		line = known.clone()
	} else {
		d.kinds[of.JobExec]++
		d.all++
	}
	d.changed[of] = line
	return line
}

// place is what the line is about in which a check is counted: a name of its own, while there are few.
func (d *Draft) place(of Of) Of {
	kinds, known := d.kinds[of.JobExec]
	switch {
	case d.has(of):
		return of
	case !known && len(d.kinds) >= MaxExecs:
		return Of{JobExec: Other, EntityName: Other}
	case kinds >= MaxKinds, d.all >= MaxLines:
		return Of{JobExec: of.JobExec, EntityName: Other}
	}
	return of
}

func (d *Draft) has(of Of) bool { return d.books.lines[of] != nil || d.changed[of] != nil }
