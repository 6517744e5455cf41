package worker

import (
	"bytes"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker/books"
	"prescient/prescient/worker/internal/ledger"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is the rig of this room.
type testRig struct{ *app.Rig }

func eachServer(t *testing.T, test func(t *testing.T, r *testRig)) {
	eachServerAt(t, 15*time.Minute, test)
}

func eachServerAt(t *testing.T, resolution time.Duration, test func(t *testing.T, r *testRig)) {
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, newRig(t, d, resolution)) })
}

// Tests that mostly wait run beside one another (t.Parallel). The others come before them, each by itself: those that compute
// more than they wait, whose times are bounded tightly, or that measure what the process has.

// eachServerInTurn is eachServerAt on one server after the other, for times that are bounded tightly.
func eachServerInTurn(t *testing.T, resolution time.Duration, test func(t *testing.T, r *testRig)) {
	servertest.EachInTurn(t, func(t *testing.T, d servertest.Database) { test(t, newRig(t, d, resolution)) })
}

// eachFlavourAt is eachServerAt on one server of each flavour, for what takes long and is of the worker's own doing, such as which
// calls run beside which: the release of a server has no part in that.
func eachFlavourAt(t *testing.T, resolution time.Duration, test func(t *testing.T, r *testRig)) {
	servertest.EachFlavour(t, func(t *testing.T, flavour localserver.Flavour) {
		test(t, newRig(t, servertest.New(t, flavour), resolution))
	})
}

// eachFlavourInTurn is for what the process has or takes: its memory, its goroutines. The release of a server has no part in
// that.
func eachFlavourInTurn(t *testing.T, resolution time.Duration, test func(t *testing.T, r *testRig)) {
	for _, flavour := range servertest.Flavours(t) {
		t.Run(string(flavour), func(t *testing.T) { test(t, newRig(t, servertest.New(t, flavour), resolution)) })
	}
}

func newRig(t *testing.T, d servertest.Database, resolution time.Duration) *testRig {
	t.Helper()
	return &testRig{app.New(t, d, resolution)}
}

// worker makes a worker whose server's clock stands still at now; the zero time leaves it running. It works at full pace unless
// a pace or a time is asked for: tests are of what happens beside each other.
func (r *testRig) worker(now time.Time, registry *prescient.Registry, options Options) *Worker {
	r.T.Helper()
	options = r.full(registry, options)
	if options.Log.GetLevel() == zerolog.TraceLevel {
		options.Log = zerolog.New(zerolog.NewTestWriter(r.T))
	}
	w, err := New(r.T.Context(), r.As("worker", now), options)
	r.Must(err)
	return w
}

// full completes the options of a worker.
func (r *testRig) full(registry *prescient.Registry, options Options) Options {
	options.Prefix, options.Dialect, options.Registry = "p_", r.Setting, registry
	if options.Load.Pace == "" && options.Load.FinishWithin == 0 {
		options.Load.Pace = PaceFull
	}
	return options
}

// runAt runs the slot that is now at a time, and returns its figures.
func (r *testRig) runAt(now time.Time, registry *prescient.Registry, options Options) books.Figures {
	r.T.Helper()
	figures, err := r.worker(now, registry, options).Run(r.T.Context())
	r.Must(err)
	return figures
}

// hookedWorker is worker with hooks.
func (r *testRig) hookedWorker(now time.Time, h *rig.Hooks, registry *prescient.Registry, options Options) *Worker {
	r.T.Helper()
	options = r.full(registry, options)
	w, err := New(r.T.Context(), r.HookedPool(now, h), options)
	r.Must(err)
	return w
}

// claimed is the lease of a worker for the first bucket of a slot, which the worker opens.
func (r *testRig) claimed(w *Worker, slot time.Time) *ledger.Lease {
	r.T.Helper()
	buckets, err := w.ledger.Open(r.T.Context(), slot, ledger.Work)
	r.Must(err)
	l, err := w.ledger.Claim(r.T.Context(), slot, buckets[0], ledger.Work)
	r.Must(err)
	if l == nil {
		r.T.Fatal("the bucket is another's")
	}
	return l
}

// unrun makes everything as it was before the first slot run, for the next case of a test.
func (r *testRig) unrun() {
	r.T.Helper()
	r.Clear()
	r.Exec("DELETE FROM p_slot_run")
}

// lateness is how late rows may be that nothing holds up. It is that much on a quiet machine. Elsewhere each of the statements on
// a row's way to its call may take as long as the slowest did that was sent beside them since lateness was asked for.
func (r *testRig) lateness(quiet time.Duration) (most func() time.Duration) {
	r.T.Helper()
	const statements = 8 // the slot's state, its ledger, two to open it, two to claim a bucket, its rows, and the test's own
	db := r.D.Open(r.T, "")
	r.Exec("CREATE TABLE beside (n INT PRIMARY KEY)") // what is only read comes back sooner than what is committed
	r.Exec("INSERT INTO beside VALUES (0)")
	stop, slowest := make(chan struct{}), make(chan time.Duration, 1)
	go func() {
		var most time.Duration
		for {
			sent := time.Now()
			select {
			case <-stop:
				slowest <- most
				return
			case <-time.After(50 * time.Millisecond):
			}
			if _, err := db.Exec("UPDATE beside SET n = n + 1"); err != nil {
				r.T.Error(err)
			}
			most = max(most, time.Since(sent)-50*time.Millisecond)
		}
	}()
	end := sync.OnceValue(func() time.Duration {
		close(stop)
		return quiet + statements*<-slowest
	})
	r.T.Cleanup(func() { end() })
	return end
}

// divided opens a slot as so many buckets.
func (r *testRig) divided(slot time.Time, buckets int) {
	r.T.Helper()
	for bucket := range buckets {
		r.Exec("INSERT INTO p_slot_run (slot, bucket, buckets) VALUES (?, ?, ?)", slot, bucket, buckets)
	}
}

// lines is a log to look into.
type lines struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) all() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Count(l.text.Bytes(), []byte(text))
}
