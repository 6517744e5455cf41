package worker

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
)

// A batch is bounded by its payloads too: 60 MB of them are due, and a fraction is in memory, which is the whole process's.
func TestLongPayloadsAreNotAllInMemory(t *testing.T) {
	eachFlavourInTurn(t, 15*time.Minute, func(t *testing.T, r *testRig) {
		const rows = 60
		const length = 1 << 20
		r.ManyDue(rig.At("13:15"), "check", 0, rows)
		r.Exec("UPDATE p_future_job SET payload = CONCAT('\"', REPEAT('x', ?), '\"')", length-2)
		inUse := func() uint64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return m.HeapAlloc
		}
		before := inUse()
		var peak, calls atomic.Uint64
		execs := rig.Registry("check", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			if calls.Add(1)%10 == 0 {
				peak.Store(max(peak.Load(), inUse()))
			}
			if len(job.Payload) != length {
				return nil, fmt.Errorf("a payload of %d bytes", len(job.Payload))
			}
			return nil, nil
		}, prescient.Guards{Concurrency: 1})
		connects := &countedConnector{Connector: r.Connector("worker", rig.At("13:15:01"))}
		db := sqlx.NewDb(sql.OpenDB(connects), "mysql")
		t.Cleanup(func() { _ = db.Close() })
		w, err := New(t.Context(), db, Options{Prefix: "p_", Load: Load{Pace: PaceFull}, Registry: execs})
		r.Must(err)
		figures, err := w.Run(t.Context())
		r.Must(err)
		if figures.Done != rows || calls.Load() != rows {
			t.Errorf("%d calls, %+v", calls.Load(), figures)
		}
		if grew := (peak.Load() - before) >> 20; peak.Load() > before && grew > 30 {
			t.Errorf("%d MB of memory were in use for %d MB of payload", grew, rows)
		} else {
			t.Logf("%d MB of memory were in use for %d MB of payload", grew, rows)
		}
		// The first read is cut short, and gives up its connection. Those after it ask for as much as there is room for.
		if n := connects.n.Load(); n > 5 {
			t.Errorf("%d connections were made; want 5 at most", n)
		}
		r.Balanced()
	})
}

// countedConnector counts the connections that were made.
type countedConnector struct {
	driver.Connector
	n atomic.Int32
}

func (c *countedConnector) Connect(ctx context.Context) (driver.Conn, error) {
	c.n.Add(1)
	return c.Connector.Connect(ctx)
}

// A batch whose moves all have a long error may be more than a packet may have: the servers take 16 MB, or 64. Here it is 6 MB,
// which take several statements all the same.
func TestLongErrorsOfManyRowsAreNotOneStatement(t *testing.T) {
	t.Parallel()
	const rows = 1000                 // which are one commit
	long := strings.Repeat("<", 1000) // each of which is six bytes of JSON
	eachServer(t, func(t *testing.T, r *testRig) {
		r.ManyDue(rig.At("13:15"), "check", 0, rows)
		execs := prescient.NewRegistry()
		r.Must(execs.RegisterBatch("check", func(_ context.Context, batch *prescient.Batch) error {
			for i := range batch.Jobs() {
				batch.Fail(i, errors.New(long))
			}
			return nil
		}, prescient.Guards{}))
		var h rig.Hooks
		w := r.hookedWorker(rig.At("13:15"), &h, execs, Options{Load: Load{Buckets: 1, Batch: 2 * rows}})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // one that is refused is sent again and again
		defer cancel()
		figures, err := w.Run(ctx)
		if err != nil || figures.Moved != rows { // a busy machine may have tried a commit again
			t.Errorf("%+v, %v", figures, err)
		}
		for _, statement := range h.Log {
			if len(statement) > 2*literal.BulkBytes {
				t.Errorf("a statement is of %d bytes; want %d at most", len(statement), 2*literal.BulkBytes)
			}
		}
		if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE error_count = 1 AND last_error = ?", long); n != rows {
			t.Errorf("%d rows have the error; want %d", n, rows)
		}
		if moves, n := 6*rows*len(long)/literal.BulkBytes, h.Count("STRAIGHT_JOIN"); n < moves {
			t.Errorf("the rows were moved by %d statements; want %d at least", n, moves)
		}
		r.Balanced()
	})
}

// Half of them are read together, and all may be committed together, where app and slot run meet: Vitess refuses to change more by a statement.
func TestABatchHasNoMoreRowsThanOneStatementMayChange(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		const most, onVitess = 20_000, 10_000
		want := most
		if r.Server.Placed() {
			want = onVitess
		}
		w := r.worker(time.Time{}, prescient.NewRegistry(), Options{Load: Load{Batch: most}})
		if got := w.shared.Batch; got != want || w.ledger.Batch != want {
			t.Errorf("%d rows; want %d", got, want)
		}
	})
}
