package stage

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/checker/evidence"
	"prescient/sql/migrate"
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

// openParts names the parts.
func (s *Stage) openParts() error {
	if s.Engine.Vitess == nil {
		s.parts = []*part{{ledgers: []*ledger{{dsn: s.dsn}}}}
		return nil
	}
	for _, shard := range s.Engine.Vitess.Shards {
		l, err := s.ledgerOf(shard, 0)
		if err != nil {
			return err
		}
		s.parts = append(s.parts, &part{shard: shard.Name, keys: l.Keys, ledgers: []*ledger{l}})
	}
	return nil
}

// beside says whether nothing of a part is broken, while another is.
func (s *Stage) beside(p *part) bool { return s.Scenario.Beside > 0 && p != s.parts[0] }

// makeTables makes the tables of a part, and has it note what they do not keep.
func (s *Stage) makeTables(ctx context.Context, p *part) error {
	if err := s.migrate(ctx, p); err != nil {
		return err
	}
	return p.ledgers[0].with("", func(db *sqlx.DB) error {
		// No key but a number, without which a replication group refuses rows: an effect that is there twice must show.
		if _, err := db.ExecContext(ctx, "CREATE TABLE "+Prefix+"effects (id BIGINT NOT NULL, checks INT NOT NULL, n BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY)"); err != nil {
			return err
		}
		if err := errors.Join(evidence.MakeJobs(ctx, db.DB, Prefix), evidence.Watch(ctx, db.DB, Prefix)); err != nil {
			return err
		}
		statements := s.Scenario.Tables
		if s.Scenario.Hours {
			statements = append(hours(), statements...)
		}
		for _, statement := range statements {
			if _, err := db.ExecContext(ctx, statement); err != nil {
				return fmt.Errorf("setting up: %w", err)
			}
		}
		return nil
	})
}

// migrate makes the tables of the product, as its users do.
func (s *Stage) migrate(ctx context.Context, p *part) error {
	dsn := s.dsn("")
	if p.shard != "" {
		dsn = s.Engine.Vitess.shard(p.shard).DSN()
	}
	db, err := connect.Open(dsn, 0)
	if err != nil {
		return err
	}
	_, err = migrate.Up(ctx, db.DB, migrate.Schema{Prefix: Prefix, Resolution: resolution})
	return errors.Join(err, db.Close())
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

// judge judges each part.
func (s *Stage) judge(ctx context.Context, stopped time.Duration) (report checker.Report, err error) {
	events := s.journal.Events()
	for i, p := range s.parts {
		tables, err := s.read(ctx, p)
		if err != nil {
			return report, err
		}
		rules, its := s.rules(p), events
		rules.Stopped = stopped
		if p.shard != "" {
			its = checker.Of(events, p.shard, p.keys, entity)
		}
		verdict := checker.Judge(rules, its, tables)
		if s.beside(p) {
			verdict.Beside = max(report.Beside, verdict.Latest)
		}
		for f := range verdict.Findings {
			verdict.Findings[f].Shard = p.shard
		}
		if i == 0 {
			report = verdict
			continue
		}
		report.Add(verdict)
		report.Beside = verdict.Beside
	}
	return report, nil
}

// read reads the tables of a part as a worker does: on a cluster, once the node has all that was committed. All of its history is summed up then.
func (s *Stage) read(ctx context.Context, p *part) (all evidence.Tables, err error) {
	first := true
	var books []evidence.Tables // of what was divided
	for _, l := range p.ledgers {
		var tables evidence.Tables
		err := l.with("", func(db *sqlx.DB) (err error) {
			tables, err = evidence.Read(ctx, db.DB, Prefix, counted())
			if err == nil && s.Scenario.Hours {
				err = realEnds(ctx, s.App, &tables)
			}
			return err
		})
		if err != nil {
			return all, err
		}
		if !tables.AllClaims {
			s.Logf("no trigger here noted the claims: whoever claimed a bucket last may end its rows")
		}
		tables.Name(l.Of)
		if l.divided {
			books = append(books, tables)
			continue
		}
		if tables.Sums, err = s.sumUp(ctx, l); err != nil {
			return all, fmt.Errorf("summing up history: %w", err)
		}
		if first {
			all, first = tables, false
			continue
		}
		all.Add(tables)
	}
	for _, old := range books {
		all.AddOwn(old)
	}
	return all, nil
}
