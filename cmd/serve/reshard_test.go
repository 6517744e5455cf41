package serve_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/localserver/vitess"
	"prescient/prescient/shards"
)

// living is a keyspace that a worker serves and an app inserts into, while something changes beneath them.
type living struct {
	*shop
	worker *working
	stop   func() // ends the app

	mu       sync.Mutex
	inserted map[string]bool // by the key of an order: whether its INSERT was answered as done
	calls    map[string][]time.Time
	latest   map[bool]time.Duration // how late, of those that lie on the second half and of others
}

// newLiving starts a worker and an app on a keyspace of some shards, where the job_exec held is paused.
func newLiving(t *testing.T, count int) *living {
	vschema, err := shards.VSchema("", nil)
	if err != nil {
		t.Fatal(err)
	}
	cluster := rig.Vitess(t, vitess.Options{Shards: count, VSchema: string(vschema)})
	l := &living{inserted: make(map[string]bool), calls: make(map[string][]time.Time), latest: make(map[bool]time.Duration)}
	l.shop = &shop{T: t, Cluster: cluster, env: map[string]string{"PRESCIENT_DSN": cluster.DSN(),
		"PRESCIENT_SLOTS_RESOLUTION": "1s", "PRESCIENT_SWEEP_EVERY": "1s", "PRESCIENT_SWEEP_GRACE": "1s", "PRESCIENT_WORKER_LEASE": "4s"}}
	l.options.Register = func(_ context.Context, registry *prescient.Registry, _ cmd.Deps) error {
		for _, name := range []string{"check", "held"} {
			if err := registry.Register(name, l.call, prescient.Guards{}); err != nil {
				return err
			}
		}
		return nil
	}
	l.execute("migrate").Wants(t, cmd.ExitOK)
	l.execute("pause", "held").Wants(t, cmd.ExitOK)
	l.must(cluster.Control(t.Context(), "ReloadSchemaKeyspace", vitess.Keyspace))
	l.worker = l.work()
	l.start()
	return l
}

// call is that of both job_execs.
func (l *living) call(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := job.EntityKey
	if job.JobExec == "held" {
		key = "held"
	}
	l.calls[key] = append(l.calls[key], time.Now())
	second := job.Key()[0] >= 0x80
	l.latest[second] = max(l.latest[second], time.Since(job.NextCheckAt))
	return nil, nil
}

// start begins to insert checks, each for an order of its own, of which some are cancelled at once. What is not answered as done may have been done.
func (l *living) start() {
	db, err := connect.Open(l.DSN(), time.Minute)
	l.must(err)
	l.Cleanup(func() { db.Close() })
	var c *client.Client
	rig.Eventually(l.T, "the gate knows the tables", func() bool {
		if c == nil {
			c, err = client.New(l.Context(), db, client.Options{})
		}
		return err == nil && l.insertOne(db, c, "check", "first") == nil
	})
	l.inserted["first"] = true
	for i := range 10 {
		l.must(l.insertOne(db, c, "held", fmt.Sprint("held", i)))
	}
	ctx, cancel := context.WithCancel(l.Context())
	var app sync.WaitGroup
	for worker := range 2 {
		app.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				key := fmt.Sprint(worker, "-", i)
				err := l.insertOne(db, c, "check", key)
				if err == nil && i%7 == 0 {
					c.Cancel(l.Context(), db, prescient.Entity{Name: "order", Key: key}) // or it is called
				}
				l.mu.Lock()
				l.inserted[key] = err == nil
				l.mu.Unlock()
				select {
				case <-ctx.Done():
				case <-time.After(20 * time.Millisecond):
				}
			}
		})
	}
	l.stop = func() {
		cancel()
		app.Wait()
	}
	l.Cleanup(l.stop)
}

func (l *living) insertOne(db *sqlx.DB, c *client.Client, exec, key string) error {
	ctx, cancel := context.WithTimeout(l.Context(), 10*time.Second)
	defer cancel()
	_, err := c.Insert(ctx, db, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: key}, JobExec: exec, DueAt: time.Now().Add(2 * time.Second)})
	return err
}

// goesOn waits until so many more checks were called on each of some shards.
func (l *living) goesOn(on ...*vitess.Shard) {
	l.Helper()
	for _, shard := range on {
		db := servertest.Open(l.T, shard.DSN(), "")
		ended := func() (n int) {
			if err := db.QueryRowContext(l.Context(), "SELECT COUNT(*) FROM job_history WHERE outcome = 'done'").Scan(&n); err != nil {
				return -1
			}
			return n
		}
		before := -1
		rig.Eventually(l.T, "shard "+shard.Name+" is worked on", func() bool {
			if before < 0 {
				before = ended()
				return false
			}
			return ended() >= before+10
		})
	}
}

func (l *living) copied(reshard *vitess.Reshard) {
	l.Helper()
	ctx, cancel := context.WithTimeout(l.Context(), time.Minute)
	defer cancel()
	l.must(reshard.Copied(ctx))
}

// prints wants a command to succeed and to print some texts.
func (l *living) prints(args string, texts ...string) {
	l.Helper()
	got := l.execute(strings.Fields(args)...)
	for _, want := range texts {
		if got.Code != cmd.ExitOK || !strings.Contains(got.Out, want) {
			l.Errorf("no %q in %v", want, got)
		}
	}
}

// wantsAll ends the app and the worker, and wants each check that was inserted to have ended once, in history and by a call or a cancel, and to have been
// called once, but for those of the first half that were in flight between two moments.
func (l *living) wantsAll(from, until time.Time, on ...*vitess.Shard) {
	l.Helper()
	l.stop()
	ends := make(map[string][]string)
	rig.Eventually(l.T, "nothing but what is paused is pending", func() bool {
		pending := 0
		for _, shard := range on {
			var n int
			if err := servertest.Open(l.T, shard.DSN(), "").QueryRowContext(l.Context(), "SELECT COUNT(*) FROM future_job WHERE job_exec <> 'held'").Scan(&n); err != nil {
				return false
			}
			pending += n
		}
		return pending == 0
	})
	l.worker.stop()
	held := 0
	for _, shard := range on {
		db := servertest.Open(l.T, shard.DSN(), "")
		var n int
		l.must(db.QueryRowContext(l.Context(), "SELECT COUNT(*) FROM future_job").Scan(&n))
		held += n
		rows, err := db.QueryContext(l.Context(), "SELECT entity_key, outcome FROM job_history")
		l.must(err)
		defer rows.Close()
		for rows.Next() {
			var key, outcome string
			l.must(rows.Scan(&key, &outcome))
			ends[key] = append(ends[key], outcome)
		}
		l.must(rows.Err())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if held != 10 || len(l.calls["held"]) > 0 {
		l.Errorf("of what is paused %d checks are pending, and %d were called", held, len(l.calls["held"]))
	}
	doubtful, again := 0, 0
	for key, answered := range l.inserted {
		switch {
		case !answered:
			doubtful++
		case len(ends[key]) != 1 || ends[key][0] != "done" && ends[key][0] != "cancelled":
			l.Errorf("order %s ended as %q, with %d calls", key, ends[key], len(l.calls[key]))
		case ends[key][0] == "done" && len(l.calls[key]) == 0:
			l.Errorf("order %s is done, and was never called", key)
		}
		if calls := l.calls[key]; len(calls) > 1 {
			again++
			if calls[0].Before(from) || calls[0].After(until) {
				l.Errorf("order %s was called at %v", key, calls)
			}
		}
	}
	if len(l.inserted) < 100 {
		l.Errorf("only %d checks were inserted", len(l.inserted))
	}
	l.Logf("%d checks, of which %d had no answer; %d were called again; the latest %v late", len(l.inserted), doubtful, again, l.latest)
}

// A shard is divided while it is worked on. The worker goes on on its parts by itself, nothing is lost, what is paused stays so, and the other shard does
// not notice.
func TestAShardIsDividedUnderLoad(t *testing.T) {
	l := newLiving(t, 2)
	old, other := l.Shards[0], l.Shards[1]
	l.goesOn(old, other)
	l.prints("vschema prepare", "all shards are ready")
	into, err := l.AddShards(t.Context(), "-40", "40-80")
	l.must(err)
	rig.Eventually(t, "vtgate knows the new shards", func() bool {
		got := l.execute("vschema", "prepare")
		return got.Code != cmd.ExitOK && strings.Contains(got.Err, "shard -40: it has no tables yet")
	})
	reshard, err := l.Reshard(t.Context(), []*vitess.Shard{old}, into)
	l.must(err)
	for range 2 { // again it copies the same
		l.prints("vschema prepare", "shard -40 has from shard -80:\n", "shard 40-80 has from shard -80:\n", "  slot_config: 1\n", "  job_pause: 1\n", "  event_shard: 64\n")
	}
	l.copied(reshard)
	from := time.Now().Add(-5 * time.Second)
	l.must(reshard.Switch(t.Context()))
	l.goesOn(append(into, other)...)
	until := time.Now()
	l.must(reshard.Complete(t.Context()))
	l.goesOn(append(into, other)...)

	got := l.execute("agents")
	for _, shard := range append(into, other) {
		if !strings.Contains(got.Out, "shard "+shard.Name+":\nagent") {
			t.Errorf("nobody works on %s: %v", shard.Name, got)
		}
	}
	if strings.Contains(got.Out, "shard -80:") {
		t.Errorf("the shard that was divided is served: %v", got)
	}
	l.prints("vschema prepare", "all shards are ready")
	l.prints("migrate", "shard -40:\nthe tables are up to date")
	l.prints("migrate --repair", "shard -40:\nthere was nothing to restore", "shard 40-80:\nthere was nothing to restore")
	l.wantsAll(from, until, append(into, other)...)
	if late := l.latest[true]; late > 5*time.Second {
		t.Errorf("beside a shard that was divided checks were called %s late", late)
	}
}

// A shard to which traffic was switched before it was prepared is not worked on: a check that is paused would be called.
func TestAShardThatNobodyPreparedIsNotWorkedOn(t *testing.T) {
	l := newLiving(t, 1)
	l.goesOn(l.Shards[0])
	old := l.Shards[:1]
	into, err := l.AddShards(t.Context(), "-80", "80-")
	l.must(err)
	reshard, err := l.Reshard(t.Context(), old, into)
	l.must(err)
	rig.Eventually(t, "80- is prepared", func() bool { return l.execute("vschema", "prepare", "80-").Code == cmd.ExitOK })
	l.copied(reshard)
	from := time.Now().Add(-5 * time.Second)
	l.must(reshard.Switch(t.Context()))
	l.goesOn(into[1])
	l.worker.says("vschema prepare")
	if got := l.execute("migrate"); got.Code != cmd.ExitTables || !strings.Contains(got.Err, "shard -80: ") || !strings.Contains(got.Err, "vschema prepare") {
		t.Errorf("migrate fills a shard that nobody prepared: %v", got)
	}
	l.execute("vschema", "prepare", "80-").Wants(t, cmd.ExitUsage, "is served and ready")
	l.prints("vschema prepare", "shard -80 has from shard 80-:\n", "  job_pause: 1\n")
	l.goesOn(into...)
	l.wantsAll(from, time.Now(), into...)
}

// Another primary, and another vtgate: nothing is lost, nothing ends twice, and the worker goes on. A transaction that the old primary ended takes a COMMIT
// all the same, with nothing committed, and history would lack it.
func TestAShardGetsAnotherPrimaryAndVtgateDiesUnderLoad(t *testing.T) {
	l := newLiving(t, 1)
	shard := l.Shards[0]
	l.goesOn(shard)
	replica, err := shard.AddReplica(t.Context())
	l.must(err)
	from := time.Now()
	for _, to := range []*vitess.Tablet{replica, shard.Tablet, replica} {
		l.must(shard.Reparent(t.Context(), to))
		l.goesOn(shard)
	}
	l.KillGate()
	l.must(l.StartGate(t.Context()))
	l.goesOn(shard)
	l.wantsAll(from, time.Now(), shard)
	if got := l.execute("doctor"); strings.Contains(got.Out, "rows.") || got.Code == cmd.ExitFailure {
		t.Errorf("%v", got)
	}
}

// After 1317 Vitess answers a COMMIT with OK, and has committed nothing; a statement that comes between is in another transaction. What a job_exec did
// before is done once all the same, also where it took no note of the error.
func TestATransactionThatVitessEndedIsDoneAgain(t *testing.T) {
	cluster := rig.Vitess(t, vitess.Options{Shards: 1, TabletArgs: []string{"--queryserver-config-transaction-timeout=1s"}})
	s := &shop{T: t, Cluster: cluster, called: make(map[string]time.Duration), env: map[string]string{"PRESCIENT_DSN": cluster.Shards[0].DSN(),
		"PRESCIENT_SLOTS_RESOLUTION": "1s", "PRESCIENT_SWEEP_EVERY": "1s", "PRESCIENT_SWEEP_GRACE": "1s", "PRESCIENT_WORKER_LEASE": "4s"}}
	calls, ended := 0, error(nil)
	s.options.Register = func(_ context.Context, registry *prescient.Registry, _ cmd.Deps) error {
		return registry.RegisterTx("check", func(ctx context.Context, tx *sqlx.Tx, job prescient.FutureJob) (*time.Time, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			calls++
			if _, err := tx.ExecContext(ctx, "INSERT INTO effect (entity) VALUES (?)", job.EntityKey); err != nil {
				return nil, err
			}
			if calls == 1 {
				time.Sleep(2 * time.Second) // longer than a transaction may take
				_, ended = tx.ExecContext(ctx, "UPDATE effect SET entity = entity")
			}
			s.called[job.EntityKey] = 0
			return nil, nil
		}, prescient.Guards{})
	}
	s.execute("migrate").Wants(t, cmd.ExitOK)
	own := servertest.Open(t, s.Shards[0].Server.DSN("vt_"+vitess.Keyspace), "")
	_, err := own.ExecContext(t.Context(), "CREATE TABLE effect (id BIGINT AUTO_INCREMENT PRIMARY KEY, entity VARCHAR(64) NOT NULL)")
	s.must(err)
	s.must(cluster.Control(t.Context(), "ReloadSchemaKeyspace", vitess.Keyspace))
	worker := s.work()
	s.execute("insert", "--entity", "order/1", "--exec", "check", "--in", "1s").Wants(t, cmd.ExitOK)
	var effects, ends int
	rig.Eventually(t, "the check is done", func() bool {
		err := own.QueryRowContext(t.Context(), "SELECT (SELECT COUNT(*) FROM effect), COUNT(*) FROM job_history WHERE outcome = 'done'").Scan(&effects, &ends)
		return err == nil && ends > 0
	})
	worker.stop()
	if !strings.Contains(fmt.Sprint(ended), "1317") || effects != 1 || ends != 1 || calls != 2 {
		t.Errorf("%d calls, of which the first was told %v: %d effects and %d ends", calls, ended, effects, ends)
	}
}
