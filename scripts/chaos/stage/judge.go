package stage

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/scripts/chaos/checker"
	"prescient/scripts/chaos/checker/evidence"
	"prescient/scripts/chaos/worker"
)

// rules are what the checker is to hold a part of this run against.
func (s *Stage) rules(p *part) checker.Rules {
	rules := checker.Rules{Resolution: resolution, Entity: entity, Batch: batch, Streams: 2, MaxLate: maxLate,
		MaxChecks: maxChecks, MaxErrors: maxErrors, InFlight: 10 * time.Second, Lease: Lease, Outcomes: worker.Outcomes(), Tx: worker.IsTx(), Long: worker.IsLong(), Callers: worker.Callers(),
		Steps: worker.Steps(), StepTx: worker.TxStep,
		LocksNeighbours: s.Engine.LocksNeighbours()}
	if s.Scenario.Rules != nil {
		s.Scenario.Rules(&rules)
	}
	if s.beside(p) {
		rules.MaxLate, rules.Beside = maxLate, s.Scenario.Beside
	}
	return rules
}

// counted are the outcomes that slot runs count: all but those of the app.
func counted() (list []string) {
	for _, outcome := range prescient.Outcomes() {
		if !outcome.ByApp() {
			list = append(list, string(outcome))
		}
	}
	return list
}

// beside says whether nothing of a part is broken, while another is.
func (s *Stage) beside(p *part) bool { return s.Scenario.Beside > 0 && p != s.parts[0] }

// drain waits until no check is pending but what is far ahead, nothing of a schedule is late, and all changes are handled.
func (s *Stage) drain(ctx context.Context) error {
	left := -1
	var err error
	for until := time.Now().Add(s.Scenario.Drain); time.Now().Before(until); Pause(ctx, 200*time.Millisecond) {
		left = 0
		for _, p := range s.parts {
			if left == 0 && err == nil {
				left, err = p.left(ctx)
			}
		}
		if err == nil && left == 0 {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		err = nil
	}
	s.Logf("after %s %d rows or changes are still pending (%v)", s.Scenario.Drain, left, err)
	return nil // the checker sees them
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
