package changequeue

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-sql-driver/mysql"
)

// lookups is how many locking reads one look at the gaps makes. Where that is not enough for all, the next look goes on there.
const lookups = 200

// abandoned returns those of some gaps, ascending, in which nobody has anything under way: a locking read of their ids, which waits for
// nobody, meets no row and no lock. No INSERT waits for it (FOR SHARE NOWAIT); an UPDATE or DELETE of a row there, or behind the gap, may. On TiDB it does
// not meet an open INSERT.
func (q *Queue) abandoned(ctx context.Context, gaps []span) (clean []span, err error) {
	if len(gaps) == 0 {
		q.lockedTo.Store(0)
		return nil, nil
	}
	how, err := q.lockingClause(ctx)
	if err != nil {
		return nil, err
	}
	from := upTo(gaps, q.lockedTo.Load())
	left := lookups
	var look func(part []span) error
	look = func(part []span) error {
		if len(part) == 0 || left == 0 {
			return nil
		}
		if len(part) <= maxRanges {
			left--
			free, err := q.isFree(ctx, part, how)
			if err != nil {
				return err
			}
			if free {
				clean = append(clean, part...)
			}
			if free || len(part) == 1 {
				q.lockedTo.Store(part[len(part)-1].last)
				return nil
			}
		}
		half := min((len(part)+1)/2, maxRanges)
		if err := look(part[:half]); err != nil {
			return err
		}
		return look(part[half:])
	}
	if err := look(gaps[from:]); err != nil {
		return nil, err
	}
	if left > 0 {
		q.lockedTo.Store(0)
		err = look(gaps[:from])
	}
	slices.SortFunc(clean, func(a, b span) int { return cmp.Compare(a.first, b.first) })
	return clean, err
}

// isFree says whether a locking read of some ranges meets nothing. It is READ COMMITTED, so that it locks rows and no gaps: nobody's
// INSERT waits for it.
func (q *Queue) isFree(ctx context.Context, some []span, how string) (bool, error) {
	query := fmt.Sprintf(q.read.locking, q.within(some)) + how
	return patiently(ctx, func() (free bool, err error) {
		tx, err := q.options.DB.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
		if err != nil {
			return false, fmt.Errorf("looking for what is under way: %w", err)
		}
		defer func() { _ = tx.Rollback() }()
		var id uint64
		err = tx.QueryRowContext(ctx, query).Scan(&id)
		var server *mysql.MySQLError
		switch {
		case errors.Is(err, sql.ErrNoRows):
			return true, nil
		case errors.As(err, &server) && slices.Contains(refusals, server.Number):
			return false, nil
		case err != nil:
			return false, fmt.Errorf("looking for what is under way: %w", err)
		}
		return false, nil // it was committed since the look before
	})
}

// refusals are the errors of a read that waits for no lock, of MariaDB and MySQL, and those of one that others were in the way of.
var refusals = []uint16{1205, 3572, 1213, 1020}

// lockingClause is how a server is asked for a lock that is not waited for. MariaDB has no FOR SHARE; and MySQL lets who may only read the
// table lock for nothing else. TiDB has neither.
func (q *Queue) lockingClause(ctx context.Context) (string, error) {
	version, err := patiently(ctx, func() (version string, err error) {
		return version, q.options.DB.GetContext(ctx, &version, "SELECT VERSION()")
	})
	switch version = strings.ToLower(version); {
	case err != nil:
		return "", fmt.Errorf("asking the server for its version: %w", err)
	case strings.Contains(version, "mariadb"):
		return "LOCK IN SHARE MODE NOWAIT", nil
	case strings.Contains(version, "tidb"):
		return "FOR UPDATE NOWAIT", nil
	}
	return "FOR SHARE NOWAIT", nil
}
