package stage

import (
	"context"
	"errors"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/scripts/chaos/checker/evidence"
)

// A part is what is judged for itself: the database, or a shard of a Vitess with those that took its place.
type part struct {
	shard string // empty for the whole
	keys  evidence.Keys
	// ledgers are where its rows are: one, and of a shard that was divided those in its place after it.
	ledgers []*ledger
}

// A ledger is the tables of a database.
type ledger struct {
	evidence.Of
	dsn     func(params string) string // of who may do all there
	divided bool                       // its rows are on those after it
}

func (l *ledger) open(params string) (*sqlx.DB, error) { return connect.Open(l.dsn(params), 0) }

// with does something on a pool.
func (l *ledger) with(params string, do func(db *sqlx.DB) error) error {
	db, err := l.open(params)
	if err != nil {
		return err
	}
	return errors.Join(do(db), db.Close())
}

// left is how many rows and changes of a part are left to be done.
func (p *part) left(ctx context.Context) (all int, err error) {
	for _, l := range p.ledgers {
		if l.divided {
			continue
		}
		err = errors.Join(err, l.with("", func(db *sqlx.DB) error {
			var rows, changes int
			err := db.QueryRowContext(ctx, "SELECT COUNT(*) FROM "+Prefix+"future_job WHERE next_check_at < "+
				"UTC_TIMESTAMP() + INTERVAL IF(entity_name = '"+prescient.ScheduleEntity+"', -3, 21600) SECOND AND entity_name <> '"+evidence.QueueEntity+"' AND CONCAT(entity_name, '|', entity_key) NOT LIKE '%"+evidence.OutsiderPrefix+"%'").Scan(&rows)
			if err == nil {
				changes, err = evidence.Unhandled(ctx, db.DB, Prefix)
			}
			all += rows + changes
			return err
		}))
	}
	return all, err
}
