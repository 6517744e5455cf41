package notify

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/doctor"
	"prescient/prescient/internal/duty"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// table is where what was told stands.
type table interface {
	// take takes the lease of who sends; nil where another has it.
	take(ctx context.Context) (lease, error)
	// read returns the rows of receivers, and some of nobody's, with the database's time.
	read(ctx context.Context, receivers []string) (now time.Time, rows []row, err error)
	// write writes and forgets rows, where the lease still is this process's. The error wraps errLocked where that is proven, but somebody has rows locked.
	write(ctx context.Context, l lease, p plan) error
	// told notes what a receiver was told by a message.
	told(ctx context.Context, m Message) error
}

var errLocked = errors.New("somebody has rows of the table finding locked")

// lease is that of who sends.
type lease interface {
	Keep(ctx context.Context) error
	Alive() bool
	Fence(ctx context.Context, tx prescient.DB) error
	Release(ctx context.Context) error
}

// term is for how long one has the duty to send, and statementTime how long a statement may take.
const term, statementTime = 15 * time.Second, 5 * time.Second

// findings is the table of a database.
type findings struct {
	db     *sqlx.DB
	tables store.Tables
	name   string // of the worker
	beyond row    // the last of those whose owners were asked for
}

func (f *findings) take(ctx context.Context) (lease, error) {
	held, err := duty.Try(ctx, f.db, &f.tables, duty.Notify, f.name, term)
	if held == nil || err != nil {
		return nil, err
	}
	return held, nil
}

// othersAtATime is how many entries of the table are read with a look for what is nobody's, from where the last look ended.
const othersAtATime = 100

func (f *findings) read(ctx context.Context, receivers []string) (now time.Time, rows []row, err error) {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	if now, err = f.tables.ReadClock(ctx, f.db); err != nil {
		return now, nil, fmt.Errorf("asking for the time: %w", err)
	}
	if rows, err = f.list(ctx, "AND receiver IN ("+literal.Join(",", literal.AppendText, receivers)+")"); err != nil {
		return now, nil, err
	}
	n, from, codes := 0, f.beyond, doctor.FindingCodes()
	f.beyond = row{}
	err = store.EachRow(ctx, f.db, func(scan store.Scan) error {
		r := row{other: true}
		if err := scan(&r.code, &r.receiver, &r.lookedAt, store.OrZero(&r.message)); err != nil {
			return err
		}
		if n++; n == othersAtATime {
			f.beyond = r
		}
		if !slices.Contains(codes, r.code) || !slices.Contains(receivers, r.receiver) {
			rows = append(rows, r)
		}
		return nil
	}, f.tables.Stmt.Get("finding/others"), from.code, from.code, from.receiver, othersAtATime)
	if err != nil {
		return now, nil, fmt.Errorf("reading whose findings are kept: %w", err)
	}
	return now, rows, nil
}

// list reads the rows of doctor's codes, and of some receivers.
func (f *findings) list(ctx context.Context, of string) (rows []row, err error) {
	err = store.EachRow(ctx, f.db, func(scan store.Scan) error {
		r, err := scanRow(scan)
		rows = append(rows, r)
		return err
	}, f.tables.Fill("finding/list", "{codes}", literal.Join(",", literal.AppendText, doctor.FindingCodes()), "{of}", of))
	if err != nil {
		return nil, fmt.Errorf("reading what was told: %w", err)
	}
	return rows, nil
}

// scanRow reads a row of finding/list.
func scanRow(scan store.Scan) (r row, err error) {
	var (
		names        []byte
		toldNames    []byte
		toldAt       *time.Time
		toldSeverity *doctor.Severity
		toldFound    int
	)
	if err = scan(&r.code, &r.receiver, &r.severity, &r.found, &names, &r.text, &r.remedy, &r.seenSince, &r.badSince, &r.goneSince,
		&r.lookedAt, &toldAt, &toldSeverity, &toldFound, &toldNames, store.OrZero(&r.message), store.OrZero(&r.kind)); err != nil {
		return r, err
	}
	_ = json.Unmarshal(names, &r.names) // what is no such list says as much as an empty one
	if toldAt != nil && toldSeverity != nil {
		r.told = &told{at: *toldAt, severity: *toldSeverity, found: toldFound}
		_ = json.Unmarshal(toldNames, &r.told.names)
	}
	return r, nil
}

// rowsAtATime are those of a statement that writes them.
const rowsAtATime = 100

func (f *findings) write(ctx context.Context, l lease, p plan) error {
	if len(p.write)+len(p.forget) == 0 {
		return nil
	}
	const doing = "noting findings"
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	tx, err := f.db.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	defer func() { _ = store.Rollback(tx) }() // nothing, once it is committed
	if err := l.Fence(ctx, tx); err != nil {
		return err
	}
	send := func(query string, args ...any) error {
		_, err := tx.ExecContext(ctx, query, args...)
		switch {
		case errno.Is(err, errno.LockWaitTimeout, errno.NoWait), errors.Is(err, context.DeadlineExceeded):
			return fmt.Errorf("%s: %w: %w", doing, errLocked, err)
		case err != nil:
			return fmt.Errorf("%s: %w", doing, err)
		}
		return nil
	}
	for some := range slices.Chunk(p.write, rowsAtATime) {
		if err := send(f.tables.Fill("finding/write", "{rows}", literal.Join(",", appendRow, some))); err != nil {
			return err
		}
	}
	for _, r := range p.forget {
		if err := send(f.tables.Stmt.Get("finding/forget"), r.code, r.receiver, orNull(r.message)); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

func (f *findings) told(ctx context.Context, m Message) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), statementTime)
	defer cancel()
	for _, i := range m.Items {
		var err error
		switch r := i.row; {
		case i.Kind == Over:
			_, err = f.db.ExecContext(ctx, f.tables.Stmt.Get("finding/forget"), r.code, r.receiver, orNull(r.message))
		case r.message == "" && i.Kind == Reminder && r.told != nil: // with each look, for who wants all
		default:
			_, err = f.db.ExecContext(ctx, f.tables.Stmt.Get("finding/told"), string(i.told.severity), i.told.found, jsonOf(i.told.names), r.code, r.receiver, orNull(r.message))
		}
		if err != nil {
			return fmt.Errorf("noting that %s was told of %s: %w", m.To, i.Code, err)
		}
	}
	return nil
}

func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// appendRow appends a row as it stands in a statement.
func appendRow(b []byte, r row) []byte {
	b = append(literal.AppendText(append(b, '('), r.code), ',')
	b = append(literal.AppendText(b, r.receiver), ',')
	b = append(literal.AppendText(b, string(r.severity)), ',')
	b = append(literal.AppendInt(b, int64(r.found)), ',')
	b = append(literal.AppendJSON(b, jsonOf(r.names)), ',')
	b = append(literal.AppendText(b, r.text), ',')
	b = append(literal.AppendText(b, r.remedy), ',')
	b = append(literal.AppendMicro(b, r.seenSince), ',')
	b = append(literal.AppendMicroOrNull(b, r.badSince), ',')
	b = append(literal.AppendMicroOrNull(b, r.goneSince), ',')
	b = append(literal.AppendMicro(b, r.lookedAt), ',')
	b = append(literal.AppendTextOrNull(b, r.message), ',')
	return append(literal.AppendTextOrNull(b, string(r.kind)), ')')
}

// jsonOf is a value that always can be JSON.
func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "{}"
	}
	return string(text)
}
