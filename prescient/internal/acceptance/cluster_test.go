//go:build cluster

package acceptance

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker"
	"prescient/sql/migrate"
)

// Three workers, each at home on another node, and two apps that insert all the while; in the middle of it a node is
// killed that takes writes. Tests of the tag cluster start clusters, which takes a while; scripts/galera and
// scripts/group-replication get what they need.
func TestAKilledNodeLosesNothingAndNothingEndsTwice(t *testing.T) {
	for _, engine := range []localserver.Engine{localserver.Galera, localserver.GroupReplication} {
		t.Run(string(engine), func(t *testing.T) {
			cluster := startCluster(t, engine)
			f := newFleet(t, cluster)
			f.start(t, 3, 2)
			time.Sleep(5 * time.Second)
			victim := cluster.Primary(t.Context())
			began := time.Now()
			victim.Kill()
			before := f.acknowledged.Load()
			for f.acknowledged.Load() < before+50 && time.Since(began) < time.Minute {
				time.Sleep(10 * time.Millisecond)
			}
			t.Logf("%s after the kill 50 more inserts were acknowledged", time.Since(began).Round(100*time.Millisecond))
			time.Sleep(5 * time.Second)
			f.finish(t)
		})
	}
}

// fleet is workers and apps on a cluster.
type fleet struct {
	dsns         []string // the list of nodes, beginning with another each
	client       *client.Client
	seen         errorNumbers
	stopApps     context.CancelFunc
	stopWorkers  context.CancelFunc
	apps, work   sync.WaitGroup
	acknowledged atomic.Int64

	mu      sync.Mutex
	written map[string]error // by key: nil where the insert was acknowledged
	calls   map[string]int
}

func newFleet(t *testing.T, cluster *localserver.Cluster) *fleet {
	t.Helper()
	f := &fleet{written: make(map[string]error), calls: make(map[string]int)}
	root := servertest.Open(t, cluster.Primary(t.Context()).DSN(""), "")
	_, err := root.Exec("CREATE DATABASE shop CHARACTER SET utf8mb4")
	rig.Fatal(t, err)
	cfg, err := mysql.ParseDSN(cluster.Nodes[0].DSN("shop"))
	rig.Fatal(t, err)
	for i := range cluster.Nodes {
		var addresses []string
		for j := range cluster.Nodes {
			addresses = append(addresses, cluster.Nodes[(i+j)%len(cluster.Nodes)].Addr())
		}
		cfg.Addr = strings.Join(addresses, ",")
		f.dsns = append(f.dsns, cfg.FormatDSN())
	}
	db, err := connect.Open(f.dsns[0], 0)
	rig.Fatal(t, err)
	defer db.Close()
	_, err = migrate.Up(t.Context(), db.DB, migrate.Schema{Resolution: time.Second})
	rig.Fatal(t, err)
	f.client, err = client.New(t.Context(), db, client.Options{})
	rig.Fatal(t, err)
	return f
}

func (f *fleet) start(t *testing.T, workers, apps int) {
	t.Helper()
	const lease = 6 * time.Second
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	f.stopWorkers = cancel
	t.Cleanup(cancel)
	for i := range workers {
		db, err := connect.Open(f.dsns[i%len(f.dsns)], lease)
		rig.Fatal(t, err)
		t.Cleanup(func() { _ = db.Close() })
		w, err := worker.New(ctx, db, worker.Options{Registry: rig.Registry("probe", f.probe, prescient.Guards{}), Name: fmt.Sprint("worker-", i),
			Times: worker.Times{Lease: lease}, Sweep: worker.Sweep{Every: 2 * time.Second, Grace: 2 * time.Second}, Log: zerolog.New(&f.seen)})
		rig.Fatal(t, err)
		f.work.Go(func() {
			if err := w.Work(ctx); err != nil {
				t.Errorf("worker %d: %v", i, err)
			}
		})
	}
	ctx, f.stopApps = context.WithCancel(ctx)
	for i := range apps {
		connector, err := connect.NewConnector(f.dsns[i%len(f.dsns)])
		rig.Fatal(t, err)
		db := sql.OpenDB(connector)
		t.Cleanup(func() { _ = db.Close() })
		f.apps.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				f.insert(ctx, db, fmt.Sprintf("%d-%d", i, n))
			}
		})
	}
}

// probe looks again once at every second entity.
func (f *fleet) probe(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
	time.Sleep(5 * time.Millisecond)
	f.mu.Lock()
	f.calls[fmt.Sprint(job.EntityKey, "/", job.CheckCount)]++
	f.mu.Unlock()
	if job.CheckCount == 0 && len(job.EntityKey)%2 == 0 {
		return prescient.At(job.NextCheckAt.Add(2 * time.Second)), nil
	}
	return nil, nil
}

func (f *fleet) insert(ctx context.Context, db *sql.DB, key string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	_, err := f.client.Insert(ctx, db, prescient.NewJob{Entity: prescient.Entity{Name: "thing", Key: key}, JobExec: "probe", DueAt: time.Now().Add(1500 * time.Millisecond)})
	f.mu.Lock()
	f.written[key] = err
	f.mu.Unlock()
	if err != nil {
		f.seen.note(err.Error())
		time.Sleep(50 * time.Millisecond)
		return
	}
	f.acknowledged.Add(1)
}

// finish stops the apps, waits until nothing is pending, stops the workers, and compares.
func (f *fleet) finish(t *testing.T) {
	t.Helper()
	f.stopApps()
	f.apps.Wait()
	connector, err := connect.NewConnector(f.dsns[0])
	rig.Fatal(t, err)
	db := sql.OpenDB(connector)
	defer db.Close()
	for end := time.Now().Add(90 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		var left int
		err := db.QueryRowContext(t.Context(), "SELECT COUNT(*) FROM future_job").Scan(&left)
		if err == nil && left == 0 {
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%d rows are pending still (%v)", left, err)
		}
	}
	f.stopWorkers()
	f.work.Wait()
	ends := make(map[string]int)
	rows, err := db.QueryContext(t.Context(), "SELECT entity_key, outcome, COALESCE(lateness_ms, 0) FROM job_history")
	rig.Fatal(t, err)
	defer rows.Close()
	for rows.Next() {
		var key, outcome string
		var late int
		rig.Fatal(t, rows.Scan(&key, &outcome, &late))
		ends[key]++
		if outcome != "done" || late < 0 {
			t.Errorf("%s ended as %s, %d ms after its slot", key, outcome, late)
		}
	}
	rig.Fatal(t, rows.Err())
	unknown, ghosts := 0, 0
	for key, err := range f.written {
		if err != nil {
			unknown++
		}
		if n := ends[key]; n > 1 || n == 0 && err == nil {
			t.Errorf("%s (its insert: %v) has %d ends", key, err, n)
		} else if err != nil && n == 1 {
			ghosts++
		}
	}
	again, most := 0, 0
	for _, n := range f.calls {
		again += n - 1
		most = max(most, n)
	}
	var done, moved, takeovers int
	rig.Fatal(t, db.QueryRowContext(t.Context(), "SELECT SUM(done), SUM(moved), SUM(takeovers) FROM slot_run").Scan(&done, &moved, &takeovers))
	if done != len(ends) {
		t.Errorf("the ledger counts %d ends, history has %d", done, len(ends))
	}
	t.Logf("%d inserts acknowledged, %d failed (%d of those were done all the same); %d ends, %d moves, %d takeovers; %d calls were repeated, one at most %d times; errors seen: %s",
		len(f.written)-unknown, unknown, ghosts, len(ends), moved, takeovers, again, most, &f.seen)
}

// errorNumbers counts the servers' errors in a log.
type errorNumbers struct {
	mu     sync.Mutex
	counts map[string]int
}

var errorNumber = regexp.MustCompile(`Error \d+|connection refused|invalid connection|bad connection|deadline exceeded|i/o timeout|read-only`)

func (e *errorNumbers) note(message string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.counts == nil {
		e.counts = make(map[string]int)
	}
	if found := errorNumber.FindString(message); found != "" {
		e.counts[found]++
	} else {
		e.counts[message]++
	}
}

// Write takes what a worker logs.
func (e *errorNumbers) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte(`"error"`)) {
		e.note(string(line))
	}
	return len(line), nil
}

func (e *errorNumbers) String() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	var all []string
	for _, name := range slices.Sorted(maps.Keys(e.counts)) {
		all = append(all, fmt.Sprintf("%s ×%d", name, e.counts[name]))
	}
	return strings.Join(all, ", ")
}
