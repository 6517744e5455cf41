package agents

import (
	"context"
	"fmt"
	"time"

	"prescient/scripts/bench/internal/page"
	"prescient/scripts/bench/internal/rig"
)

// pool is whose agents have the runs.
const pool = "heavy"

// shortSlot is the resolution of what is not about that.
const shortSlot = 5 * time.Second

// stage is an installation with the calls of its long runs.
type stage struct{ *rig.Place }

// install makes a stage. The caller drops it.
func install(ctx context.Context, s *rig.Server, name string, slot time.Duration) (*stage, error) {
	p, err := s.Install(ctx, "agents_"+name, slot, false)
	if err != nil {
		return nil, err
	}
	st := &stage{p}
	if _, err := p.Exec(ctx, "CREATE TABLE bench_call (entity_key VARCHAR(64) NOT NULL, agent VARCHAR(64) NOT NULL, at DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6)), n BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY)"); err != nil {
		return nil, err
	}
	return st, p.MakeNumbers(ctx, 20_000)
}

// insert makes checks pending: n of them, whose keys begin with a name, due in so many seconds.
func (st *stage) insert(ctx context.Context, exec, name string, n, seconds int, payload string) error {
	_, err := st.Exec(ctx, "INSERT INTO future_job (entity_name, entity_key, job_exec, due_at, payload) SELECT 'bench', CONCAT(?, n), ?, UTC_TIMESTAMP(6) + INTERVAL ? SECOND, ? FROM bench_n WHERE n < ?",
		name, exec, seconds, payload, n)
	return err
}

// count runs a query that counts.
func (st *stage) count(ctx context.Context, query string, args ...any) (n int, err error) {
	return n, st.App.QueryRowContext(ctx, query, args...).Scan(&n)
}

// await waits until a query counts so many.
func (st *stage) await(ctx context.Context, want int, query string, args ...any) error {
	for began := time.Now(); ; {
		n, err := st.count(ctx, query, args...)
		if err != nil || n >= want {
			return err
		}
		if time.Since(began) > 3*time.Minute {
			return fmt.Errorf("after 3 minutes %d of %d: %s", n, want, query)
		}
		if err := rig.Pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
}

// add puts figures into the book.
func add(b *rig.Bench, name string, round int, figures map[string]float64, note string) error {
	b.Say("  %-60s %s %s", name, page.FiguresText(figures), note)
	return b.Book.Add(page.Record{Case: name, Round: round, Figures: figures, Note: note})
}
