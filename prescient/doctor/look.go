package doctor

import (
	"context"
	"fmt"
)

// look is one examination under way: what it has found, and the error that ended it. After an error it reads and says nothing more.
type look struct {
	*doctor
	found []Finding
	err   error
}

// say adds findings.
func (l *look) say(findings ...Finding) {
	if l.err == nil {
		l.found = append(l.found, findings...)
	}
}

// sayOf says a finding of some, which it names.
func (l *look) sayOf(some []faulty, f Finding) {
	if len(some) > 0 {
		f.Text += ": " + named(some) + "."
		for _, one := range some[:min(len(some), namedSchedules)] {
			f.About = append(f.About, one.ID)
		}
		l.say(f)
	}
}

// rows reads the rows of a statement.
func (l *look) rows(ctx context.Context, into any, statement string, args ...any) {
	l.query(ctx, l.db.SelectContext, into, statement, l.tables.Stmt.Get(statement), args...)
}

// row reads the one row of a statement.
func (l *look) row(ctx context.Context, into any, statement string, args ...any) {
	l.query(ctx, l.db.GetContext, into, statement, l.tables.Stmt.Get(statement), args...)
}

// query reads by a query, for which an error has a name.
func (l *look) query(ctx context.Context, read func(context.Context, any, string, ...any) error, into any, name, query string, args ...any) {
	if l.err != nil {
		return
	}
	if err := read(ctx, into, query, args...); err != nil {
		l.err = fmt.Errorf("%s: %w", name, err)
	}
}

// orFine says a text where nothing was found. looks are how far this one has gone, where it may not have read all.
func (l *look) orFine(ctx context.Context, code, text string, looks ...reach) {
	l.orPart(code, text, l.parts(ctx, looks...))
}

// orPart is orFine where the parts are known that alone were read.
func (l *look) orPart(code, text string, parts []string) {
	if l.err == nil {
		l.found = orFine(l.found, code, text, parts...)
	}
}

// reach is how far a look goes: over so many entries of a table, in the order of an index.
type reach struct {
	says         string // what it reads then, as "the first %s rows", with the limit
	limit        int
	table, index string
	where        string // a condition, if any
	args         []any  // of that
}

// parts says of which of some looks there is more than they read.
func (l *look) parts(ctx context.Context, looks ...reach) (parts []string) {
	for _, one := range looks {
		says := fmt.Sprintf(one.says, many(one.limit))
		var beyond int
		query := l.tables.Fill("operate/beyond", "{table}", one.table, "{index}", one.index, "{where}", one.where)
		l.query(ctx, l.db.GetContext, &beyond, "asking for more than "+says, query, append(one.args, one.limit)...)
		if beyond > 0 {
			parts = append(parts, says)
		}
	}
	return parts
}
