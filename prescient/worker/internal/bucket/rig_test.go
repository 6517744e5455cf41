package bucket

import (
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/internal/store"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker/internal/check"
	"prescient/prescient/worker/internal/commit"
	"prescient/prescient/worker/internal/execute"
	"prescient/prescient/worker/internal/ledger"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is the rig of this room.
type testRig struct{ *app.Rig }

func eachServer(t *testing.T, resolution time.Duration, test func(t *testing.T, r *testRig)) {
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, &testRig{app.New(t, d, resolution)}) })
}

// shared is what the buckets of a worker share that is called w.
func shared(db *sqlx.DB, tables *store.Tables, execs *prescient.Registry) *Shared {
	guards := prescient.DefaultGuards()
	guards.Concurrency = 16
	send := &store.Sender{DB: db, Timeout: store.StatementTime(prescient.DefaultLease), Patience: 2 * time.Minute}
	l := &ledger.Ledger{Send: send, Tables: tables, Worker: "w", TTL: prescient.DefaultLease, Batch: 2000, Parallel: 4}
	s := &Shared{Writer: &commit.Writer{Send: send, Tables: tables, Ledger: l, Worker: "w"}, Executor: execute.New(32, execs, guards),
		Crowds: make(map[string]*Crowd), Guards: func(exec string) prescient.Guards { return execs.GuardsOf(exec, guards) },
		Observe: func([]*check.Answered, commit.Result) {}, Batch: 2000, Parallel: 4}
	for name := range s.Executor.Lanes {
		s.Crowds[name] = new(Crowd)
	}
	return s
}

// claim takes the first bucket of a slot.
func (r *testRig) claim(s *Shared, slot time.Time) (l *ledger.Lease, buckets int) {
	r.T.Helper()
	list, err := s.Ledger.Open(r.T.Context(), slot, ledger.Work)
	r.Must(err)
	l, err = s.Ledger.Claim(r.T.Context(), slot, list[0], ledger.Work)
	r.Must(err)
	return l, list[0].Buckets
}
