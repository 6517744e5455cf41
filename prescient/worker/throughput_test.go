package worker

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker/books"
	"prescient/sql/migrate"
)

// yard is an installation on a server with durable settings, to measure on: rows due at one slot, which are filled in
// again before each run.
type yard struct {
	t    testing.TB
	d    servertest.Database
	app  *sql.DB
	rows int
	slot time.Time
	pid  int
}

// newYard has n rows in a table beside, ready to be copied.
func newYard(t testing.TB, d servertest.Database, n int) *yard {
	t.Helper()
	y := &yard{t: t, d: d, app: d.Open(t, ""), rows: n, slot: time.Now().UTC().Truncate(15 * time.Minute)}
	_, err := migrate.Up(t.Context(), y.app, migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute})
	y.must(err)
	client, err := client.New(t.Context(), y.app, client.Options{Prefix: "p_"})
	y.must(err)
	_, err = client.InsertMany(t.Context(), d.Open(t, rig.FixedClock(y.slot.Add(-time.Second))), y.jobs(n))
	y.must(err)
	y.exec("CREATE TABLE template LIKE p_future_job", "INSERT INTO template SELECT * FROM p_future_job ORDER BY next_check_at, job_key")
	var file string
	y.must(y.app.QueryRow("SELECT @@pid_file").Scan(&file))
	if text, err := os.ReadFile(file); err == nil {
		y.pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
	}
	return y
}

func (y *yard) must(err error) {
	y.t.Helper()
	if err != nil {
		y.t.Fatal(err)
	}
}

func (y *yard) exec(statements ...string) {
	y.t.Helper()
	for _, s := range statements {
		_, err := y.app.ExecContext(context.WithoutCancel(y.t.Context()), s)
		y.must(err)
	}
}

func (y *yard) jobs(n int) []prescient.NewJob {
	jobs := make([]prescient.NewJob, n)
	for i := range jobs {
		jobs[i] = prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(i)}, JobExec: "check", DueAt: y.slot, Payload: []byte(`{"total": 4200}`)}
	}
	return jobs
}

// fill makes the rows pending again, and forgets what became of them.
func (y *yard) fill() {
	y.t.Helper()
	y.exec("TRUNCATE TABLE p_future_job", "TRUNCATE TABLE p_job_history", "DELETE FROM p_slot_run",
		"INSERT INTO p_future_job SELECT * FROM template ORDER BY next_check_at, job_key")
}

// floor does in one transaction what the rows' ends come to at least: they are inserted into history, and deleted.
func (y *yard) floor() {
	y.t.Helper()
	ctx := context.WithoutCancel(y.t.Context())
	tx, err := y.app.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	y.must(err)
	defer func() { _ = tx.Rollback() }() // after a failure
	for _, s := range []string{
		`INSERT INTO p_job_history SELECT entity_name, entity_key, job_exec, tag, due_at, job_key, first_check_at, next_check_at,
			check_count, error_count, put_off_count, last_error, total_ms, payload, revision, inserted_at,
			next_check_at, 'done', NULL, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6), 0, 0, 'floor', expires_at FROM p_future_job WHERE next_check_at = ?`,
		"DELETE FROM p_future_job WHERE next_check_at = ?"} {
		n, err := store.Affected(ctx, tx, s, y.slot)
		y.must(err)
		if n != y.rows {
			y.t.Fatalf("%d rows; want %d", n, y.rows)
		}
	}
	y.must(tx.Commit())
}

func (y *yard) worker(registry *prescient.Registry, options Options) *Worker {
	db, err := connect.Open(y.d.DSN, 0)
	y.must(err)
	y.t.Cleanup(func() { _ = db.Close() })
	options.Prefix, options.Registry, options.Load.Pace = "p_", registry, PaceFull
	w, err := New(y.t.Context(), db, options)
	y.must(err)
	return w
}

// run runs the slot with a worker.
func (y *yard) run(w *Worker, how runOptions) books.Figures {
	y.t.Helper()
	figures, err := w.runSlot(context.WithoutCancel(y.t.Context()), y.slot, how)
	y.must(err)
	if figures.Rows() != y.rows {
		y.t.Fatalf("%+v; want %d rows", figures, y.rows)
	}
	return figures
}

// cost is what something took: elapsed, and of the processors, here and in the server.
type cost struct {
	elapsed, client, server time.Duration
	heap                    uint64 // at most, here, above what it was
}

func (y *yard) measure(do func()) (c cost) {
	peak := watchHeap()
	client, server, began := ownCPU(), cpuOf(y.pid), time.Now()
	do()
	c = cost{elapsed: time.Since(began), client: ownCPU() - client, server: cpuOf(y.pid) - server}
	c.heap = peak()
	return c
}

func (c cost) String() string {
	return fmt.Sprintf("%s (client %s, server %s)", c.elapsed, c.client, c.server)
}

// watchHeap looks at the heap until the function that it returns is called, which tells by how much it grew at most.
func watchHeap() (peak func() uint64) {
	heap := func() uint64 {
		sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}, {Name: "/memory/classes/heap/unused:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64() + sample[1].Value.Uint64()
	}
	runtime.GC()
	before := heap()
	stop, most := make(chan struct{}), make(chan uint64)
	go func() {
		top := before
		for {
			select {
			case <-stop:
				most <- top - before
				return
			case <-time.After(5 * time.Millisecond):
				top = max(top, heap())
			}
		}
	}()
	return func() uint64 {
		close(stop)
		return <-most
	}
}

func ownCPU() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// cpuOf reads what a process has used, in the kernel's hundredths of a second.
func cpuOf(pid int) time.Duration {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// insertByHand inserts jobs as an app would that knows nothing of prescient: a thousand rows a statement, the table's
// defaults for the rest, in one transaction.
func (y *yard) insertByHand(jobs []prescient.NewJob) {
	tx, err := y.app.Begin()
	y.must(err)
	defer func() { _ = tx.Rollback() }() // after a failure
	for part := range slices.Chunk(jobs, 1000) {
		var b strings.Builder
		b.WriteString("INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at, payload) VALUES ")
		for i, job := range part {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "('%s','%s','%s','%s','%s')", job.Entity.Name, job.Entity.Key, job.JobExec, job.DueAt.Format(literal.SecondLayout), job.Payload)
		}
		_, err := tx.Exec(b.String())
		y.must(err)
	}
	y.must(tx.Commit())
}

// BenchmarkInsertMany measures it beside a multi-row INSERT by hand, in turn.
func BenchmarkInsertMany(b *testing.B) {
	for _, flavour := range servertest.Flavours(b) {
		b.Run(string(flavour), func(b *testing.B) {
			y := newYard(b, servertest.New(b, flavour), 20_000)
			client, err := client.New(b.Context(), y.app, client.Options{Prefix: "p_"})
			y.must(err)
			jobs := y.jobs(y.rows)
			var byHand, many cost
			for range b.N {
				y.exec("TRUNCATE TABLE p_future_job")
				byHand.add(y.measure(func() { y.insertByHand(jobs) }))
				y.exec("TRUNCATE TABLE p_future_job")
				many.add(y.measure(func() {
					_, err := client.InsertMany(b.Context(), y.app, jobs)
					y.must(err)
				}))
			}
			rows := float64(b.N * y.rows)
			b.ReportMetric(rows/many.elapsed.Seconds(), "rows/s")
			b.ReportMetric(byHand.elapsed.Seconds()/many.elapsed.Seconds(), "of-by-hand")
			b.ReportMetric(float64(many.client.Microseconds())/rows, "client-µs/row")
			b.ReportMetric(float64(many.server.Microseconds())/rows, "server-µs/row")
			b.ReportMetric(float64(byHand.client.Microseconds())/rows, "by-hand-client-µs/row")
			b.ReportMetric(float64(byHand.server.Microseconds())/rows, "by-hand-server-µs/row")
		})
	}
}

// BenchmarkEnds measures slot runs whose job_execs do nothing beside the floor, in turn.
func BenchmarkEnds(b *testing.B) {
	for _, flavour := range servertest.Flavours(b) {
		b.Run(string(flavour), func(b *testing.B) {
			y := newYard(b, servertest.New(b, flavour), 50_000)
			for _, kind := range []string{"one", "batch", "moves"} {
				for parallel := 1; parallel <= 2; parallel++ {
					b.Run(fmt.Sprint(kind, "/", parallel), func(b *testing.B) {
						registry := prescient.NewRegistry()
						switch kind {
						case "one":
							registry.MustRegister("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
						case "moves":
							next := y.slot.Add(24 * time.Hour)
							registry.MustRegister("check", func(context.Context, prescient.FutureJob) (*time.Time, error) { return &next, nil }, prescient.Guards{})
						case "batch":
							y.must(registry.RegisterBatch("check", func(_ context.Context, batch *prescient.Batch) error {
								for i := range batch.Jobs() {
									batch.Settle(i)
								}
								return nil
							}, prescient.Guards{}))
						}
						w := y.worker(registry, Options{})
						var floor, run cost
						n := 0
						for range b.N {
							b.StopTimer()
							y.fill()
							floor.add(y.measure(y.floor))
							y.fill()
							b.StartTimer()
							run.add(y.measure(func() { y.run(w, runOptions{parallel: parallel}) }))
							n += y.rows
						}
						rows := float64(n)
						b.ReportMetric(rows/floor.elapsed.Seconds(), "floor-rows/s")
						b.ReportMetric(rows/run.elapsed.Seconds(), "rows/s")
						b.ReportMetric(floor.elapsed.Seconds()/run.elapsed.Seconds(), "of-floor")
						b.ReportMetric(float64(run.client.Microseconds())/rows, "client-µs/row")
						b.ReportMetric(float64(run.server.Microseconds())/rows, "server-µs/row")
						b.ReportMetric(float64(floor.server.Microseconds())/rows, "floor-server-µs/row")
						b.ReportMetric(float64(run.heap>>10)/1024, "heap-MB")
					})
				}
			}
		})
	}
}

func (c *cost) add(o cost) {
	c.elapsed, c.client, c.server = c.elapsed+o.elapsed, c.client+o.client, c.server+o.server
	c.heap = max(c.heap, o.heap)
}
