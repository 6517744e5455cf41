package store

import (
	"context"
	"database/sql"
	"encoding/hex"
	"fmt"
	"time"

	"prescient/prescient"
)

// How a query locks what it reads.
const (
	Plainly  = ""
	Shared   = "LOCK IN SHARE MODE"
	ToChange = "FOR UPDATE"
)

// Rows reads all rows of a query. columns says where those of a row go. An error says what was being done.
func Rows[T any](ctx context.Context, db prescient.DB, doing, query string, columns func(row *T) []any, args ...any) (all []T, err error) {
	err = EachRow(ctx, db, func(scan Scan) error {
		var row T
		err := scan(columns(&row)...)
		all = append(all, row)
		return err
	}, query, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	return all, nil
}

// Exec sends a statement whose {…} are filled by the pairs. An error says what was being done.
func (t *Tables) Exec(ctx context.Context, db prescient.DB, doing, statement string, pairs ...string) error {
	if _, err := db.ExecContext(ctx, t.Fill(statement, pairs...)); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	return nil
}

// column is one of a row, for Rows.
type column func(value any) error

// Scan implements sql.Scanner.
func (c column) Scan(value any) error { return c(value) }

// OrZero is a column of which NULL is the zero value.
func OrZero[T any](into *T) sql.Scanner {
	return column(func(value any) error {
		var read sql.Null[T]
		err := read.Scan(value)
		*into = read.V
		return err
	})
}

// Text is a column of text, which set takes; NULL is left out.
func Text(set func(text string) error) sql.Scanner {
	return column(func(value any) error {
		var text sql.NullString
		if err := text.Scan(value); err != nil || !text.Valid {
			return err
		}
		return set(text.String)
	})
}

// Trace is a column with a trace; what is none, which plain SQL may have written, is left out.
func Trace(into *string) sql.Scanner {
	return Text(func(text string) error {
		if prescient.ValidTrace(text) {
			*into = text
		}
		return nil
	})
}

// Unhex is a column of text that is read in hexadecimal; NULL is left out.
func Unhex[T ~string | ~[]byte](into *T) sql.Scanner {
	return Text(func(text string) error {
		plain, err := hex.DecodeString(text)
		*into = T(plain)
		return err
	})
}

// Key is a column with the job_key of a check.
func Key(into *prescient.Key) sql.Scanner {
	return Text(func(raw string) error {
		*into = prescient.Key([]byte(raw))
		return nil
	})
}

// UnhexInto is Unhex for an array.
func UnhexInto(into []byte) sql.Scanner {
	return Text(func(text string) error {
		_, err := hex.Decode(into, []byte(text))
		return err
	})
}

// At is a column of a time that is read as text; NULL is left out.
func At(into *time.Time) sql.Scanner {
	return Text(func(text string) (err error) {
		*into, err = ParseTime(text)
		return err
	})
}

// AtOrNil is At for a time that may be nil.
func AtOrNil(into **time.Time) sql.Scanner {
	return Text(func(text string) error {
		*into = new(time.Time)
		return At(*into).Scan(text)
	})
}

// Seconds is a column of whole seconds; NULL is 0.
func Seconds(into *time.Duration) sql.Scanner { return count(into, time.Second) }

// Micros is a column of whole microseconds; NULL is 0.
func Micros(into *time.Duration) sql.Scanner { return count(into, time.Microsecond) }

func count(into *time.Duration, unit time.Duration) sql.Scanner {
	return column(func(value any) error {
		var n sql.NullInt64
		err := n.Scan(value)
		*into = time.Duration(n.Int64) * unit
		return err
	})
}
