package changequeue

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
)

func appendID(b []byte, id uint64) []byte { return strconv.AppendUint(b, id, 10) }

const inTheOrderHandled = "SELECT id FROM handled ORDER BY n"

func TestAChangeThatCommitsLateIsHandledWhenItCommits(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		late := r.change(2)
		r.must(r.change(1, 3, 4).Commit())
		r.works(Options{Watch: 20 * time.Millisecond}, inTx)
		r.within(time.Minute, "the others are handled", func() bool { return r.count("SELECT COUNT(*) FROM handled") == 3 })
		r.must(late.Commit())
		r.within(time.Minute, "it is handled, too", func() bool { return r.count("SELECT COUNT(*) FROM handled") == 4 })
		if got := r.ids(inTheOrderHandled); !slices.Equal(got, []uint64{1, 3, 4, 2}) {
			t.Errorf("%v", got)
		}
	})
}

func TestInOrderChangesWaitForOneThatCommitsLate(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		late := r.change(2)
		r.must(r.change(1, 3, 5).Commit())
		q, _ := r.works(Options{InOrder: true, GapWait: 4 * time.Second, Watch: 20 * time.Millisecond}, inTx)
		r.within(time.Minute, "the first is handled", func() bool { return r.count("SELECT COUNT(*) FROM handled") == 1 && q.Figures().Open == 1 })
		r.must(late.Commit())
		r.within(time.Minute, "those up to the next gap are handled", func() bool { return r.count("SELECT COUNT(*) FROM handled") == 3 })
		r.within(time.Minute, "the next gap was waited for", func() bool { return q.Figures() == (Figures{Handled: 4, Passed: 1}) }) // counted after the commit
		if got := r.ids(inTheOrderHandled); !slices.Equal(got, []uint64{1, 2, 3, 5}) {
			t.Errorf("%v", got)
		}
	})
}

func TestAGapThatNobodyFillsIsPassedOverAndWhatComesThenIsCounted(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		late := r.change(2)
		r.must(r.change(1, 5).Commit())
		q, _ := r.works(Options{GapWait: time.Second}, inTx) // it looks in each slot
		r.within(time.Minute, "the gap is held", func() bool { return q.Figures().Held == 1 })
		r.must(late.Rollback())
		r.within(time.Minute, "the gap is passed over", func() bool { return q.Figures().Passed == 3 })
		r.must(r.change(2).Commit())
		r.within(time.Minute, "one that comes then is noticed", func() bool { return q.Figures().Late == 1 })
		r.within(time.Minute, "and handled", func() bool { return slices.Equal(r.ids(inTheOrderHandled), []uint64{1, 5, 2}) })
	})
}

// Also where its error says that it is not to be: the changes behind these would be lost with the queue.
func TestAFailedHandlerIsCalledAgainForTheSameChanges(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		r.must(r.change(1, 2, 3).Commit())
		var calls atomic.Int32
		r.works(Options{}, func(q *Queue, a *agent) error {
			return q.RegisterTx(a.runner, a.registry, func(ctx context.Context, tx *sqlx.Tx, changes []Change) error {
				err := record(ctx, tx, changes)
				if calls.Add(1) == 1 {
					err = prescient.Final(errors.New("no luck"))
				}
				return err
			})
		})
		r.within(time.Minute, "they are handled", func() bool { return r.count("SELECT COUNT(*) FROM handled") > 0 })
		if got := r.ids(inTheOrderHandled); !slices.Equal(got, []uint64{1, 2, 3}) || calls.Load() != 2 {
			t.Errorf("%v after %d calls", got, calls.Load())
		}
	})
}

func TestAQueueGoesOnWhereItWas(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		r.must(r.change(1, 2).Commit())
		handled := func(n int) func() bool {
			return func() bool { return r.count("SELECT COUNT(*) FROM handled") == n }
		}
		q, stop := r.works(Options{Watch: 20 * time.Millisecond}, inTx)
		r.within(time.Minute, "the first are handled", handled(2))
		stop()
		r.must(r.change(3).Commit())
		_, stop = r.works(Options{Watch: 20 * time.Millisecond}, inTx)
		r.within(time.Minute, "after a restart, one more", handled(3))
		// Somebody cancels its check; the program starts it anew.
		db, err := connect.Open(r.dsn, 0)
		r.must(err)
		defer db.Close()
		checks, err := client.New(t.Context(), db, client.Options{Dialect: r.setting})
		r.must(err)
		n, err := checks.Cancel(t.Context(), db, q.Entity())
		if err != nil || n != 1 {
			t.Errorf("%d cancelled, %v", n, err)
		}
		stop()
		r.must(r.change(4).Commit())
		r.works(Options{Watch: 20 * time.Millisecond}, inTx)
		r.within(time.Minute, "after a cancel, one more", handled(4))
		if got := r.ids(inTheOrderHandled); !slices.Equal(got, []uint64{1, 2, 3, 4}) {
			t.Errorf("%v", got)
		}
	})
}

func TestAQueueMayBeginBehindAnID(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		r.must(r.change(1, 2, 3, 4).Commit())
		db, err := connect.Open(r.dsn, 0)
		r.must(err)
		defer db.Close()
		checks, err := client.New(t.Context(), db, client.Options{Dialect: r.setting})
		r.must(err)
		_, err = checks.Insert(t.Context(), db, prescient.NewJob{Entity: prescient.Entity{Name: EntityName, Key: "queue"}, JobExec: "queue", DueAt: prescient.EarliestDue, Payload: []byte(`{"after": 2}`)})
		r.must(err)
		r.works(Options{After: 3}, inTx)
		r.within(time.Minute, "the rest is handled", func() bool { return slices.Equal(r.ids(inTheOrderHandled), []uint64{3, 4}) })
	})
}

// Whatever lies there, a batch at a time is in memory.
func TestABacklogIsNeverInMemory(t *testing.T) {
	const n, size = 100_000, 1000
	defer debug.SetGCPercent(debug.SetGCPercent(100)) // what counts is what is held, and not for how long what is not is left lying
	eachFlavour(t, func(t *testing.T, r *rig) {
		r.exec("INSERT INTO changes (payload) VALUES (REPEAT('x', ?))", size)
		for have := 1; have < n; have *= 2 {
			r.exec("INSERT INTO changes (payload) SELECT payload FROM changes LIMIT ?", min(have, n-have))
		}
		var most, bytes, peak atomic.Int64
		began := time.Now()
		q, _ := r.works(Options{BatchBytes: 256 << 10, GapWait: time.Second}, func(q *Queue, a *agent) error {
			return q.RegisterTx(a.runner, a.registry, func(ctx context.Context, tx *sqlx.Tx, changes []Change) error {
				var sum int64
				for _, c := range changes {
					sum += int64(len(c.Payload))
				}
				most.Store(max(most.Load(), int64(len(changes))))
				bytes.Store(max(bytes.Load(), sum))
				var m runtime.MemStats
				runtime.ReadMemStats(&m)
				peak.Store(max(peak.Load(), int64(m.HeapInuse)))
				return record(ctx, tx, changes)
			})
		})
		r.within(3*time.Minute, "all are handled", func() bool { return q.Figures().Handled == n })
		t.Logf("%d changes of %d bytes took %s; at most %d at a time, the heap had %d MiB", n, size, time.Since(began), most.Load(), peak.Load()>>20)
		if got := r.count("SELECT COUNT(DISTINCT id) FROM handled"); got != n || r.count("SELECT COUNT(*) FROM handled") != n {
			t.Errorf("%d of %d", got, n)
		}
		if most.Load() > 262 || bytes.Load() > 256<<10 || peak.Load() > 64<<20 {
			t.Errorf("%d changes of %d bytes at a time, %d bytes of heap", most.Load(), bytes.Load(), peak.Load())
		}
	})
}

func TestOptionsThatAreRefused(t *testing.T) {
	db, err := connect.Open("u:p@tcp(127.0.0.1:1)/d", 0)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for want, change := range map[string]func(o *Options){
		`name of the queue "my queue"`:            func(o *Options) { o.Name = "my queue" },
		"there is no pool":                        func(o *Options) { o.DB = nil },
		"Table \"a`b\": want a name":              func(o *Options) { o.Table = "a`b" },
		`Table "": want a name`:                   func(o *Options) { o.Table = "" },
		`Table "a.b.c": want a name`:              func(o *Options) { o.Table = "a.b.c" },
		`IDColumn "id, secret": want a name`:      func(o *Options) { o.IDColumn = "id, secret" },
		`PayloadColumn "(SELECT 1)": want a name`: func(o *Options) { o.PayloadColumn = "(SELECT 1)" },
		"Batch 10001: 1 to 10000 are allowed":     func(o *Options) { o.Batch = 10_001 },
		"BatchBytes -1: 1 to":                     func(o *Options) { o.BatchBytes = -1 },
		"GapWait 25h0m0s: 1ms to 24h0m0s":         func(o *Options) { o.GapWait = 25 * time.Hour },
		"GapWait -1s":                             func(o *Options) { o.GapWait = -time.Second },
		"Watch 1ms: must be at least 10ms":        func(o *Options) { o.Watch = time.Millisecond },
	} {
		o := Options{DB: db, Name: "queue", Table: "shop.changes"}
		change(&o)
		if _, err := New(o); !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %q in it", err, want)
		}
	}
	q, err := New(Options{DB: db, Name: "queue", Table: "shop.changes"})
	if err != nil || q.read.fresh != "SELECT `id`, `payload` FROM `shop`.`changes` WHERE `id` > ? ORDER BY `id` LIMIT ?" {
		t.Errorf("%+v, %v", q, err)
	}
	if err := q.RegisterTx(nil, prescient.NewRegistry(), nil); !errors.Is(err, prescient.ErrInvalid) {
		t.Errorf("without a function: %v", err)
	}
}

// Effects that are elsewhere: at least once, and no more often where nothing fails.
func TestAQueueWithoutATransactionHandlesEachChangeToo(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		r.exec("INSERT INTO changes (payload) VALUES ('a'), (NULL), ('')")
		var mu sync.Mutex
		var got []string
		r.works(Options{Batch: 2, Watch: 20 * time.Millisecond}, func(q *Queue, a *agent) error {
			return q.Register(a.runner, a.registry, func(_ context.Context, changes []Change) error {
				mu.Lock()
				defer mu.Unlock()
				for _, c := range changes {
					got = append(got, strconv.FormatUint(c.ID, 10)+":"+string(c.Payload)+":"+strconv.FormatBool(c.Payload == nil))
				}
				return nil
			})
		})
		r.within(time.Minute, "all are handled", func() bool { mu.Lock(); defer mu.Unlock(); return len(got) == 3 })
		if want := []string{"1:a:false", "2::true", "3::false"}; !slices.Equal(got, want) {
			t.Errorf("%q; want %q", got, want)
		}
	})
}

// What it reads is bounded by the primary key, whatever lies in the table.
func TestNoStatementOfAQueueScansTheTable(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *rig) {
		r.exec("INSERT INTO changes (payload) VALUES (REPEAT('x', 100))")
		for range 14 {
			r.exec("INSERT INTO changes (payload) SELECT payload FROM changes")
		}
		r.exec("ANALYZE TABLE changes")
		db, err := connect.Open(r.dsn, 0)
		r.must(err)
		defer db.Close()
		q, err := New(Options{DB: db, Name: "queue", Table: "changes"})
		r.must(err)
		var version string
		r.must(db.GetContext(t.Context(), &version, "SELECT VERSION()"))
		how, err := q.lockingClause(t.Context())
		r.must(err)
		for statement, args := range map[string][]any{
			q.read.fresh:                            {5000, 1000},
			fmt.Sprintf(q.read.some, "5,7,8,20000"): nil,
			fmt.Sprintf(q.read.locking, q.within([]span{{5, 9}, {100, 200}})) + how: nil,
			q.read.below: nil,
			fmt.Sprintf(q.read.ids, "(`id` BETWEEN 5 AND 9 OR `id` BETWEEN 100 AND 200)"): nil,
		} {
			var plan struct {
				Type  string         `db:"type"`
				Key   sql.NullString `db:"key"`
				Extra sql.NullString `db:"Extra"`
			}
			explain := "EXPLAIN " // as a table, which MySQL 9 has to be asked for
			if strings.HasPrefix(version, "9.") {
				explain = "EXPLAIN FORMAT=TRADITIONAL "
			}
			r.must(db.Unsafe().GetContext(t.Context(), &plan, explain+statement, args...))
			if plan.Type != "range" || plan.Key.String != "PRIMARY" || strings.Contains(plan.Extra.String, "filesort") {
				t.Errorf("%s: %+v", statement, plan)
			}
		}
	})
}
