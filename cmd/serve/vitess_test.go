package serve_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/localserver/vitess"
)

// shop is a keyspace of two shards that one process serves.
type shop struct {
	*testing.T
	*vitess.Cluster
	options cmd.Options
	env     map[string]string

	mu     sync.Mutex
	called map[string]time.Duration // by entity: how late
	shards []string                 // for which Register was called
}

func newShop(t *testing.T) *shop {
	cluster := rig.Vitess(t, vitess.Options{Shards: 2, VSchema: `{"sharded": true, "vindexes": {"itself": {"type": "binary"}},
		"tables": {"future_job": {"column_vindexes": [{"column": "job_key", "name": "itself"}]}}}`})
	s := &shop{T: t, Cluster: cluster, called: make(map[string]time.Duration), env: map[string]string{"PRESCIENT_DSN": cluster.DSN(),
		"PRESCIENT_SLOTS_RESOLUTION": "1s", "PRESCIENT_SWEEP_EVERY": "1s", "PRESCIENT_SWEEP_GRACE": "1s", "PRESCIENT_WORKER_LEASE": "4s"}}
	s.options.Register = func(_ context.Context, registry *prescient.Registry, deps cmd.Deps) error {
		s.mu.Lock()
		s.shards = append(s.shards, deps.Shard)
		s.mu.Unlock()
		return registry.Register("check", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.called[job.EntityKey] = time.Since(job.NextCheckAt)
			return nil, nil
		}, prescient.Guards{})
	}
	return s
}

func (s *shop) execute(args ...string) rig.Result {
	s.Helper()
	return rig.Execute(s.Context(), s.options, s.env, "", args...)
}

// insert makes some checks of a shard pending, that are due in a second.
func (s *shop) insert(shard *vitess.Shard, name string, count int) {
	s.Helper()
	db, err := connect.Open(shard.DSN(), time.Minute)
	s.must(err)
	defer db.Close()
	c, err := client.New(s.Context(), db, client.Options{})
	s.must(err)
	for i := 0; count > 0; i++ {
		job := prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: fmt.Sprint(name, i)}, JobExec: "check", DueAt: time.Now().Add(time.Second)}
		if first := prescient.KeyOf(job.Entity, "check", "")[0] < 0x80; first == (shard == s.Shards[0]) {
			_, err := c.Insert(s.Context(), db, job)
			s.must(err)
			count--
		}
	}
}

// wants waits until so many checks of a name were called, and returns how late the latest was.
func (s *shop) wants(name string, count int) (latest time.Duration) {
	s.Helper()
	rig.Eventually(s.T, fmt.Sprint(count, " calls of ", name), func() bool {
		s.mu.Lock()
		defer s.mu.Unlock()
		n := 0
		for key, late := range s.called {
			if strings.HasPrefix(key, name) {
				n++
				latest = max(latest, late)
			}
		}
		return n == count
	})
	return latest
}

func (s *shop) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// What one process sends to its shards goes to one of them each, and is committed there.
func TestOneProcessServesEachShardOfVitess(t *testing.T) {
	s := newShop(t)
	if got := s.execute("migrate", "status"); got.Code != cmd.ExitTables || strings.Count(got.Out, "are missing") != 2 {
		t.Errorf("%v", got)
	}
	first := s.env["PRESCIENT_DSN"]
	s.env["PRESCIENT_DSN"] = s.Shards[0].DSN()
	s.execute("migrate").Wants(t, cmd.ExitOK)
	s.env["PRESCIENT_DSN"] = first
	worker := s.work()
	s.insert(s.Shards[0], "early", 20)
	if late := s.wants("early", 20); late > 3*time.Second {
		t.Errorf("beside a shard that has no tables they were called %s late", late)
	}
	worker.says("tables")
	if got := s.execute("migrate"); got.Code != cmd.ExitOK || !strings.Contains(got.Out, "shard -80:\nthe tables are up to date\nshard 80-:\napplied") {
		t.Errorf("%v", got)
	}
	s.insert(s.Shards[1], "second", 20)
	s.wants("second", 20)

	// Its process is well while one of them is away, and the other is served in time.
	s.Shards[1].Server.Kill()
	s.insert(s.Shards[0], "alone", 20)
	if late := s.wants("alone", 20); late > 3*time.Second {
		t.Errorf("beside a shard that is away they were called %s late", late)
	}
	if got := s.execute("agents"); got.Code == cmd.ExitOK || !strings.Contains(got.Out, "shard -80:\nagent") || !strings.Contains(got.Err, "shard 80-") {
		t.Errorf("beside a shard that is away: %v", got)
	}
	if got := s.execute("history"); got.Code == cmd.ExitOK || !strings.Contains(got.Out, "order/alone") || strings.Contains(got.Out, "order/second") || !strings.Contains(got.Err, "shard 80-") {
		t.Errorf("beside a shard that is away: %v", got)
	}
	s.must(s.Shards[1].Server.Restart(t.Context()))
	rig.Eventually(t, "the shard is there again", func() bool {
		return servertest.Open(t, s.Shards[1].DSN(), "").QueryRowContext(t.Context(), "SELECT 1 FROM future_job").Scan(new(int)) == sql.ErrNoRows
	})
	s.insert(s.Shards[1], "again", 20)
	s.wants("again", 20)
	worker.stop()

	for _, shard := range s.Shards {
		if !slices.Contains(s.shards, shard.Name) {
			t.Errorf("Register was told of shards %q; want %s among them", s.shards, shard.Name)
		}
	}
	if got := s.execute("run", "--json"); got.Code != cmd.ExitOK || strings.Count(got.Out, `"shard":"-80"`) != 1 || strings.Count(got.Out, `"shard":"80-"`) != 1 {
		t.Errorf("%v", got)
	}
	if got := s.execute("sweep"); got.Code != cmd.ExitOK || strings.Count(got.Out, "swept 0 slots") != 2 {
		t.Errorf("%v", got)
	}
	s.looksAtEach()
	s.listsAll()
	// Nor does what prepares a session.
	other, err := s.Shards[1].Calls(t.Context())
	s.must(err)
	s.insert(s.Shards[0], "late", 1)
	if n, err := s.Shards[1].Calls(t.Context()); n != other || err != nil {
		t.Errorf("%d statements went to the other shard, %v", n-other, err)
	}
	if scattered := s.scattered(); len(scattered) > 0 {
		t.Errorf("went where vtgate sent it: %q", scattered)
	}
	commits, err := s.Counts(t.Context(), "CommitModeTimings")
	s.must(err)
	if commits["Single"] == 0 || len(commits) > 1 {
		t.Errorf("transactions were committed as %v; want each on one shard", commits)
	}
	s.must(servertest.Open(t, s.DSN(), "").QueryRowContext(t.Context(), "SELECT COUNT(*) FROM future_job").Scan(new(int)))
	if scattered := s.scattered(); len(scattered) != 1 {
		t.Errorf("of one statement that goes to both shards it counts %q", scattered)
	}
}

// looksAtEach has a person look at all shards, and pause something on all, on the DSN of the keyspace.
func (s *shop) looksAtEach() {
	s.Helper()
	rules := rig.File(s.T, "rules.yaml", "- {rule: escalate, occasion: order.placed, exec: check, delay: 6h}\n")
	for _, step := range []struct{ args, says string }{
		{"rule set remind --occasion order.placed --exec check --delay 3h", "created: remind"}, {"rule import " + rules, "+ rule escalate"}, {"rule list", "escalate"},
		{"status", "Who works"}, {"agents", ""}, {"agents --pools", ""}, {"doctor", "schema"}, {"slots", "pending"}, {"stats", ""}, {"attest", ""}, {"event status", "outbox"},
		{"blocking", "No session"}, {"pause check", "check"}, {"pause", "check"}, {"resume check", "ended 1 pauses"},
	} {
		got := s.execute(strings.Fields(step.args)...)
		for _, shard := range s.Shards {
			_, printed, there := strings.Cut(got.Out, "shard "+shard.Name+":\n")
			if !there || !strings.Contains(printed, step.says) || got.Code == cmd.ExitFailure {
				s.Errorf("of shard %s: %v", shard.Name, got)
			}
		}
	}
	for _, args := range []string{"status --json", "doctor --json"} {
		got := s.execute(strings.Fields(args)...)
		for line := range strings.Lines(got.Out) {
			if !strings.HasPrefix(line, `{"shard":"-80",`) && !strings.HasPrefix(line, `{"shard":"80-",`) {
				s.Errorf("%s: %s", args, line)
			}
		}
	}
	s.execute("rule", "export").Wants(s.T, cmd.ExitUsage, "rule export looks at one shard")
	s.execute("status", "--watch").Wants(s.T, cmd.ExitUsage, "--watch looks at one shard")
}

// listsAll has a person list what all shards have, page after page.
func (s *shop) listsAll() {
	s.Helper()
	for i := range 6 {
		s.insert(s.Shards[i%2], fmt.Sprint("listed", i), 1)
	}
	type line struct {
		EntityKey string `json:"entity_key"`
		Cursor    string
	}
	pages := func(of string) (all []line) {
		for after := ""; ; {
			page := rig.Lines[line](s.T, s.execute(of, "--json", "--limit", "4", "--after", after).Out)
			if all = append(all, page...); len(page) < 4 {
				return all
			}
			after = page[3].Cursor
		}
	}
	pending, history := pages("pending"), pages("history")
	if len(pending) != 6 || !slices.IsSortedFunc(pending, func(a, b line) int { return strings.Compare(a.Cursor, b.Cursor) }) {
		s.Errorf("pending are %+v", pending)
	}
	if len(history) != len(s.called) || !slices.IsSortedFunc(history, func(a, b line) int { return strings.Compare(b.Cursor, a.Cursor) }) {
		s.Errorf("of %d that ended are listed %+v", len(s.called), history)
	}
	if got := s.execute("pending", "--entity", "order/"+pending[0].EntityKey); got.Code != cmd.ExitOK || strings.Count(got.Out, "order/") != 1 {
		s.Errorf("of one entity: %v", got)
	}
	if got := s.execute("audit", "--verb", "pause"); got.Code != cmd.ExitOK || strings.Count(got.Out, "vt_app@") != len(s.Shards) {
		s.Errorf("of a pause on each shard: %v", got)
	}
	if got := s.execute("schedule", "list"); got.Out != "there are no schedules\n" {
		s.Errorf("%v", got)
	}
	s.listsJobs()
	s.execute("pending", "--after", "x").Wants(s.T, cmd.ExitUsage, "cursor")
}

// scattered are the kinds of statements of which some went elsewhere than to the shard that the session is targeted at, as vtgate counts them.
func (s *shop) scattered() (kinds []string) {
	s.Helper()
	executed, err := s.Counts(s.Context(), "QueryExecutions")
	s.must(err)
	routed, err := s.Counts(s.Context(), "QueryRoutes")
	s.must(err)
	for kind, n := range routed {
		// What is targeted is passed through, or is EXECUTE or the end of a transaction; of SET each variable goes by itself.
		targeted := strings.Contains(kind, ".Passthrough.") || strings.Contains(kind, ".Transaction.") || strings.HasPrefix(kind, "EXECUTE.")
		if n > 0 && !(targeted && n <= executed[kind]) && !strings.HasPrefix(kind, "SET.") {
			kinds = append(kinds, fmt.Sprintf("%s: %d times to %d shards", kind, executed[kind], n))
		}
	}
	return kinds
}

// listsJobs has a person list jobs, their runs, and events that were set aside, of which each shard has some.
func (s *shop) listsJobs() {
	s.Helper()
	keyspace := s.env["PRESCIENT_DSN"]
	for i, shard := range s.Shards {
		s.env["PRESCIENT_DSN"] = shard.DSN()
		file := rig.File(s.T, "jobs.yaml", fmt.Sprintf("- {job: nightly%d, crontab: 0 12 * * *, steps: [{name: report, exec: check}]}\n", 1-i))
		s.execute("job", "create", file).Wants(s.T, cmd.ExitOK)
		db := servertest.Open(s.T, shard.DSN(), "")
		for _, statement := range []string{
			"INSERT INTO job_run_log (job, occurrence, job_key, scheduled_at, ended_at, result) VALUES ('nightly%[1]d', '%[1]d', RANDOM_BYTES(16), '2026-01-0%[2]d', '2026-01-09', 'done'), ('nightly%[1]d', '1%[1]d', RANDOM_BYTES(16), '2026-01-1%[2]d', '2026-01-19', 'done')",
			"INSERT INTO event_set_aside (seq, shard, id, topic, event_key, generated_at, inserted_at, refused_at, reason) VALUES (%[2]d, 1, 'e%[2]d', 't', 'k', '2026-01-01', '2026-01-01', '2026-01-01', 'no'), (1%[2]d, 1, 'e1%[2]d', 't', 'k', '2026-01-01', '2026-01-01', '2026-01-01', 'no')",
		} {
			_, err := db.ExecContext(s.Context(), fmt.Sprintf(statement, 1-i, 1+i))
			s.must(err)
		}
	}
	s.env["PRESCIENT_DSN"] = keyspace
	for _, step := range []struct {
		args string
		list []string // what it says, in this order
	}{
		{"job list", []string{"nightly0 ", "nightly1 "}},
		{"runs", []string{"nightly0-10 ", "nightly1-11 ", "nightly0-0 ", "nightly1-1 "}},
		{"runs --limit 3 --steps", []string{"nightly0-10:", "nightly1-11:", "nightly0-0:"}},
		{"runs nightly1-11", []string{"nightly1-11:"}},
		{"event set-aside", []string{" e1 ", " e2 ", " e11 ", " e12 "}},
		{"event set-aside --after 00000000000000000002 --limit 1", []string{" e11 "}},
	} {
		got := s.execute(strings.Fields(step.args)...)
		at := 0
		for _, one := range step.list {
			next := strings.Index(got.Out[at:], one)
			if next < 0 {
				s.Errorf("no %q in its place: %v", one, got)
				break
			}
			at += next
		}
		if lines := strings.Count(strings.TrimRight(got.Out, "\n"), "\n") + 1; got.Code != cmd.ExitOK || lines > len(step.list)+1 {
			s.Errorf("%d lines: %v", lines, got)
		}
	}
	s.execute("runs", "nightly0-5").Wants(s.T, cmd.ExitNotFound, "has not begun")
}

// working is the command work in this process.
type working struct {
	*testing.T
	cancel func()
	ended  chan rig.Result
	log    *rig.Buffer
}

func (s *shop) work() *working {
	ctx, cancel := context.WithCancel(s.Context())
	w := &working{T: s.T, cancel: cancel, ended: make(chan rig.Result, 1), log: new(rig.Buffer)}
	go func() { w.ended <- rig.ExecuteTo(ctx, s.options, s.env, w.log, "work") }()
	s.Cleanup(w.cancel)
	return w
}

func (w *working) says(text string) {
	w.Helper()
	rig.Eventually(w.T, "it says "+text, func() bool { return strings.Contains(w.log.String(), text) })
}

// stop has it stop gracefully.
func (w *working) stop() {
	w.Helper()
	w.cancel()
	if got := <-w.ended; got.Code != cmd.ExitOK {
		w.Errorf("%v\n%s", got, w.log)
	}
}
