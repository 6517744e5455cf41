package changequeue

import (
	"context"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"

	text "prescient/sql"
)

// consumed is set, to a DSN, where this program is a consumer that a test kills.
const consumed = "CHANGEQUEUE_TEST_DSN"

// It is no test by itself: it consumes until it is killed.
func TestConsumer(t *testing.T) {
	dsn := os.Getenv(consumed)
	if dsn == "" {
		t.Skip("for TestOfAHundredThousandChangesEachIsHandledOnce")
	}
	log := zerolog.New(os.Stderr).Level(zerolog.ErrorLevel)
	a, err := newAgent(t.Context(), dsn, "agent-"+strconv.Itoa(os.Getpid()), text.Dialect(os.Getenv("PRESCIENT_TEST_DIALECT")), log)
	if err != nil {
		t.Fatal(err)
	}
	q, err := New(Options{DB: a.db, Name: "queue", Table: "changes", Batch: 500, GapWait: 2 * time.Minute, Watch: 20 * time.Millisecond, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	if err := q.RegisterTx(a.runner, a.registry, record); err != nil {
		t.Fatal(err)
	}
	if err := q.Start(t.Context(), a.checks, a.db); err != nil {
		t.Fatal(err)
	}
	t.Fatal(a.work(t.Context()))
}

// write has writers insert n changes, in transactions that commit in another order than that of their ids. One in ten rolls back.
func (r *rig) write(n int) (written <-chan struct{}) {
	const writers, each = 6, 20
	var left, rolledBack atomic.Int64
	left.Store(int64(n + 2*each*writers))
	var all sync.WaitGroup
	for range writers {
		all.Go(func() {
			for left.Add(-2*each) >= 0 {
				tx, err := r.root.BeginTx(context.Background(), nil)
				for range 2 { // the ids of others come between
					if err == nil {
						_, err = tx.Exec("INSERT INTO changes (payload) VALUES ('')" + strings.Repeat(", ('x')", each-1))
					}
					time.Sleep(time.Duration(rand.IntN(8)) * time.Millisecond)
				}
				if err != nil {
					r.t.Error(err)
					return
				}
				if rand.IntN(200) == 0 { // some stay open for long
					time.Sleep(time.Duration(rand.IntN(2000)) * time.Millisecond)
				}
				if rand.IntN(10) > 0 {
					err = tx.Commit()
				} else {
					err = tx.Rollback()
					left.Add(2 * each) // others come in its place
					rolledBack.Add(1)
				}
				if err != nil {
					r.t.Error(err)
					return
				}
			}
		})
	}
	done := make(chan struct{})
	go func() {
		all.Wait()
		r.t.Logf("%d transactions rolled back", rolledBack.Load())
		close(done)
	}()
	return done
}

func TestOfAHundredThousandChangesEachIsHandledOnce(t *testing.T) {
	const n = 100_000
	eachFlavour(t, func(t *testing.T, r *rig) {
		consume := func() *exec.Cmd {
			c := exec.Command(os.Args[0], "-test.run=^TestConsumer$", "-test.timeout=10m")
			c.Env, c.Stderr = append(os.Environ(), consumed+"="+r.dsn), os.Stderr
			r.must(c.Start())
			return c
		}
		kill := func(c *exec.Cmd) {
			_ = c.Process.Kill()
			_ = c.Wait()
		}
		began := time.Now()
		written := r.write(n)
		kills, handled := 0, 0
		for done := false; !done; {
			c := consume()
			// It is killed at some time after it has handled something.
			r.within(2*time.Minute, "something is handled", func() bool {
				return r.count("SELECT COUNT(*) FROM handled") > handled || kills > 0 && isClosed(written)
			})
			time.Sleep(time.Duration(rand.IntN(1500)) * time.Millisecond)
			kill(c)
			kills++
			handled = r.count("SELECT COUNT(*) FROM handled")
			done = isClosed(written) || kills == 8
		}
		c := consume()
		defer kill(c)
		<-written
		t.Logf("written, and %d killed, after %s", kills, time.Since(began))
		want := r.count("SELECT COUNT(*) FROM changes")
		r.within(3*time.Minute, "all are handled", func() bool { return r.count("SELECT COUNT(*) FROM handled") >= want })
		t.Logf("%d changes in %s, consumer killed %d times", want, time.Since(began), kills)
		skipped := r.count("SELECT COUNT(*) FROM changes LEFT JOIN (SELECT DISTINCT id FROM handled) done USING (id) WHERE done.id IS NULL")
		twice := r.count("SELECT COUNT(*) - COUNT(DISTINCT id) FROM handled")
		rolledBack := r.count("SELECT COUNT(*) FROM handled LEFT JOIN changes USING (id) WHERE changes.id IS NULL")
		if skipped != 0 || twice != 0 || rolledBack != 0 || want < n || kills < 2 {
			t.Errorf("of %d changes %d were skipped, %d handled twice, %d had rolled back; %d kills", want, skipped, twice, rolledBack, kills)
		}
	})
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}
