package prune

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/audit"
	"prescient/prescient/internal/store"
)

// old is the place of an old entry.
type old struct{ at, stream, seq string }

// behind is a condition for what comes after it.
func (o old) behind() string {
	return fmt.Sprintf("(at > '%[1]s' OR at = '%[1]s' AND (stream > X'%[2]s' OR stream = X'%[2]s' AND seq > %[3]s))", o.at, o.stream, o.seq)
}

// oldAudit deletes old entries of the audit on a connection.
type oldAudit struct {
	tables *store.Tables
	conn   *sqlx.Conn
}

// read reads so many old entries behind a cursor.
func (o oldAudit) read(ctx context.Context, cutoff, behind string, limit int) (page []old, err error) {
	rows, err := o.conn.QueryContext(ctx, o.tables.Fill("prune/audit_old", "{cutoff}", cutoff, "{behind}", behind, "{limit}", strconv.Itoa(limit)))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var one old
		if err := rows.Scan(&one.at, &one.stream, &one.seq); err != nil {
			return nil, err
		}
		page = append(page, one)
	}
	return page, rows.Err()
}

// end deletes what may go of the streams of some entries, and marks what stays behind that, in one transaction.
func (o oldAudit) end(ctx context.Context, page []old, cutoff string) (deleted int, err error) {
	var streams []string
	for _, one := range page {
		streams = append(streams, "X'"+one.stream+"'")
	}
	slices.Sort(streams)
	streams = slices.Compact(streams)
	tx, err := o.conn.BeginTxx(ctx, nil)
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, store.Rollback(tx.Tx))
		}
	}()
	rows, err := tx.QueryContext(ctx, o.tables.Fill("prune/audit_streams", "{streams}", strings.Join(streams, ","), "{cutoff}", cutoff))
	if err != nil {
		return 0, err
	}
	var ranges, marks []string
	for rows.Next() {
		var stream, kind, verb string
		var kept sql.NullInt64
		var latest int64
		if err := rows.Scan(&stream, &kept, &latest, &kind, &verb); err != nil {
			return 0, errors.Join(err, rows.Close())
		}
		from, to := staying(kept, latest, audit.Kind(kind), verb)
		if to > from {
			ranges = append(ranges, fmt.Sprintf("entry.stream = X'%s' AND entry.seq >= %d AND entry.seq < %d", stream, from, to))
		}
		if to > from && from > 1 {
			marks = append(marks, fmt.Sprintf("stream = X'%s' AND seq = %d", stream, to))
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return 0, err
	}
	if len(ranges) > 0 {
		if deleted, err = store.Affected(ctx, tx, o.tables.Fill("prune/audit_end", "{ranges}", strings.Join(ranges, " OR "))); err != nil {
			return 0, err
		}
	}
	if len(marks) > 0 {
		if _, err = tx.ExecContext(ctx, o.tables.Fill("prune/audit_mark", "{entries}", strings.Join(marks, " OR "))); err != nil {
			return 0, err
		}
	}
	return deleted, tx.Commit()
}

// staying says which entries of a stream go: from one (inclusive) to another. kept is the first that is not old.
func staying(kept sql.NullInt64, latest int64, kind audit.Kind, verb string) (from, to int64) {
	switch lasting := kind != audit.Check && kind != audit.Event && verb != audit.Delete; {
	case kept.Valid:
		return 2, kept.Int64
	case lasting:
		return 2, latest
	}
	return 1, latest + 1
}
