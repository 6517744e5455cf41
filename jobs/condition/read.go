package condition

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/connect"
)

// mostKeys is how many keys stand in one statement: MariaDB makes a table of a list of 1,000.
const mostKeys = 500

// selectKeys finds those of some keys that meet the condition.
func (f *column) selectKeys(while string, keys []string) string {
	return f.selectIn(while, f.list(keys))
}

func (f *column) selectIn(while, list string) string {
	return "SELECT DISTINCT " + f.written + " FROM " + f.table + " WHERE " + f.name + " IN (" + list + ") AND (" + while + "\n)"
}

// selectEqual says of rows that meet the condition which of some other keys the column takes for theirs: a 1 or 0 for each.
func (f *column) selectEqual(while string, rows, keys []string) string {
	equal := make([]string, len(keys))
	for i, key := range keys {
		equal[i] = f.name + " = " + f.literal(key)
	}
	return "SELECT " + f.written + ", CONCAT(" + strings.Join(equal, ", ") + ") FROM " + f.table + " WHERE " + f.name + " IN (" + f.list(rows) + ") AND (" + while + "\n)"
}

// reading runs do in a transaction that can write nothing, whatever the account may do.
func reading(ctx context.Context, db *sqlx.DB, do func(tx *sqlx.Tx) error) error {
	tx, err := db.BeginTxx(ctx, &sql.TxOptions{ReadOnly: true, Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	return do(tx)
}

// found is what a look found.
type found struct {
	met   map[string]bool   // keys whose row meets the condition
	other map[string]string // keys that a row has in another writing, such as another case, and how it writes them
	// refused are keys of whose rows the server cannot tell, and why: a text in it is no JSON, say, or a difference below 0.
	refused map[string]error
	tried   int // statements that were refused
}

// mostTried is how many statements of a look may be refused: behind those, keys are refused without another one.
const mostTried = 500

// lookFor asks which of some keys meet the condition.
func (f *column) lookFor(ctx context.Context, db *sqlx.DB, while string, keys []string) (found, error) {
	all := found{met: make(map[string]bool), other: make(map[string]string), refused: make(map[string]error)}
	err := reading(ctx, db, func(tx *sqlx.Tx) error {
		for part := range slices.Chunk(keys, mostKeys) {
			if err := f.lookForPart(ctx, tx, while, part, &all); err != nil {
				return err
			}
		}
		return nil
	})
	return all, err
}

// lookForPart is lookFor for some keys. Where the server refuses rows, and not the statement, the keys are halved until those are found: what somebody
// has written into a row costs the check of that entity alone.
func (f *column) lookForPart(ctx context.Context, tx *sqlx.Tx, while string, keys []string, into *found) error {
	err := f.lookForThese(ctx, tx, while, keys, into)
	if !errors.Is(refusedBy(err), prescient.ErrInvalid) {
		return err
	}
	if into.tried == 0 {
		if _, of := f.keysOf(ctx, tx, f.selectIn(while, "NULL"), 0); of != nil {
			return err
		}
	}
	if into.tried++; len(keys) == 1 || into.tried > mostTried {
		for _, key := range keys {
			into.refused[key] = err
		}
		return nil
	}
	if err := f.lookForPart(ctx, tx, while, keys[:len(keys)/2], into); err != nil {
		return err
	}
	return f.lookForPart(ctx, tx, while, keys[len(keys)/2:], into)
}

func (f *column) lookForThese(ctx context.Context, tx *sqlx.Tx, while string, keys []string, into *found) error {
	rows, err := f.keysOf(ctx, tx, f.selectKeys(while, keys), len(keys))
	if err != nil {
		return err
	}
	for _, row := range rows {
		if slices.Contains(keys, row) {
			into.met[row] = true
		}
	}
	if f.charset == "" {
		return nil
	}
	// What is left has no row, unless the column's collation takes it for one.
	left := slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return into.met[key] })
	if len(left) == 0 {
		return nil
	}
	others, err := f.keysOf(ctx, tx, f.selectKeys(while, left), len(left))
	if err != nil || len(others) == 0 {
		return err
	}
	equal, err := tx.QueryxContext(ctx, f.selectEqual(while, others, left))
	if err != nil {
		return err
	}
	defer equal.Close()
	for equal.Next() {
		var row, which string
		if err := equal.Scan(&row, &which); err != nil {
			return err
		}
		for i, bit := range which {
			if bit == '1' {
				into.other[left[i]] = row
			}
		}
	}
	return equal.Err()
}

// keysOf returns the keys that a statement finds, which was asked for n of them. A column without an index of its own may have more writings of a
// key than anybody wants to keep.
func (f *column) keysOf(ctx context.Context, on sqlx.QueryerContext, statement string, n int) (keys []string, err error) {
	rows, err := on.QueryxContext(ctx, statement)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var key string
		if err := rows.Scan(&key); err != nil {
			return nil, err
		}
		if keys = append(keys, f.read(key)); len(keys) > 4*n {
			return nil, fmt.Errorf("%d keys were asked for, and more than %d rows have them in other writings", n, 4*n)
		}
	}
	return keys, rows.Err()
}

// slow are errors of a server that ended a statement since its time was over, and passing all that say nothing of the statement: those of locks
// and deadlocks, too.
var (
	slow    = []uint16{1969, 3024}
	passing = append([]uint16{1205, 1213, 1317}, slow...)
)

// isSlow says whether the server ended a statement since its time was over.
func isSlow(err error) bool {
	var server *mysql.MySQLError
	return errors.As(err, &server) && slices.Contains(slow, server.Number)
}

// refusedBy is an error of the server that explained a statement; it wraps prescient.ErrInvalid where the statement is to blame.
func refusedBy(err error) error {
	var server *mysql.MySQLError
	if !errors.As(err, &server) || slices.Contains(passing, server.Number) || connect.IsUnreachable(err) {
		return err
	}
	return fmt.Errorf("%w: the server refuses it: %w", prescient.ErrInvalid, err)
}
