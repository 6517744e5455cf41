package prune

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/store"
)

// old is an old entry: its place, what it made, and whether it stays.
type old struct {
	at, entry, stream string
	incarnation       sql.NullString
	version           uint64
	stays             bool
}

// behind is a condition for what comes after it.
func (o old) behind() string {
	return fmt.Sprintf("(old.at > '%[1]s' OR old.at = '%[1]s' AND old.entry > X'%[2]s')", o.at, o.entry)
}

// oldAudit deletes old entries of the audit on a connection.
type oldAudit struct {
	tables *store.Tables
	conn   *sqlx.Conn
}

// read reads so many old entries behind a cursor.
func (o oldAudit) read(ctx context.Context, cutoff, behind string, limit int) ([]old, error) {
	query := o.tables.Fill("prune/audit_old", "{cutoff}", cutoff, "{behind}", behind, "{limit}", strconv.Itoa(limit))
	return store.Rows(ctx, o.conn, "reading old entries of the audit", query, func(one *old) []any {
		return []any{&one.at, &one.entry, &one.stream, &one.incarnation, &one.version, &one.stays}
	})
}

// end deletes what may go of some entries, and marks what is the first then, in one transaction.
func (o oldAudit) end(ctx context.Context, page []old) (deleted int, err error) {
	var gone []string
	marks := newMarks()
	for _, one := range page {
		if !one.stays {
			gone = append(gone, fmt.Sprintf("SELECT CAST('%s' AS DATETIME(6)) AS at, X'%s' AS entry", one.at, one.entry))
			marks.add(one)
		}
	}
	if len(gone) == 0 {
		return 0, nil
	}
	tx, err := o.conn.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted}) // else it waits for the entry that an app is writing beside these
	if err != nil {
		return 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, store.Rollback(tx.Tx))
		}
	}()
	if deleted, err = store.Affected(ctx, tx, o.tables.Fill("prune/audit_end", "{entries}", strings.Join(gone, " UNION ALL "))); err != nil {
		return 0, err
	}
	for of, deleted := range marks {
		for _, version := range []uint64{deleted.least, deleted.most} {
			_, err = tx.ExecContext(ctx, o.tables.Fill("prune/audit_mark", "{stream}", "X'"+of.stream+"'", "{incarnation}", "'"+of.incarnation+"'",
				"{version}", strconv.FormatUint(version, 10)))
			if err != nil {
				return 0, err
			}
			if deleted.least == deleted.most {
				break
			}
		}
	}
	return deleted, tx.Commit()
}

// incarnation is one of an object.
type incarnation struct{ stream, incarnation string }

// marks are the least and the highest version that were deleted of incarnations: the first that is left behind each is marked. Of two,
// one may be an entry that somebody forged.
type marks map[incarnation]struct{ least, most uint64 }

func newMarks() marks { return make(marks) }

func (m marks) add(one old) {
	if !one.incarnation.Valid {
		return
	}
	of := incarnation{one.stream, one.incarnation.String}
	is, there := m[of]
	if !there {
		is.least = one.version
	}
	is.least, is.most = min(is.least, one.version), max(is.most, one.version)
	m[of] = is
}
