package worker

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker/books"
)

// A row that cannot be written, or read, must not keep the others of its bucket from coming to an end.

// huge makes the payload of a row as long as that, in characters of two bytes each; what is there from before is not held to
// the bound of an insert.
func (r *testRig) huge(key string, megabytes int) {
	r.T.Helper()
	r.Exec("UPDATE p_future_job SET payload = JSON_QUOTE(REPEAT('ä', ?)) WHERE entity_key = ?", megabytes<<19-1, key)
	if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE entity_key = ? AND LENGTH(payload) >= ?", key, megabytes<<20-2); n != 1 {
		r.T.Fatalf("the payload did not become %d MB long", megabytes)
	}
}

func TestARowWithAHugePayloadEndsLikeAnyOther(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		const rows = 40
		r.ManyDue(rig.At("13:15"), "check", 0, rows)
		r.grandfather()
		r.huge("7", 9)
		var c rig.Calls
		execs := rig.Registry("check", func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
			if job.EntityKey == "7" && len(job.Payload) < 9<<20-100 {
				return nil, fmt.Errorf("a payload of %d bytes", len(job.Payload))
			}
			if job.EntityKey == "7" && job.CheckCount == 0 {
				return prescient.At(job.NextCheckAt.Add(15 * time.Minute)), nil // it is moved first
			}
			if job.EntityKey == "7" {
				return prescient.At(job.NextCheckAt), nil // past_return: not done, so that its end is not written with those of others
			}
			return c.Count(ctx, job)
		}, prescient.Guards{})
		var h rig.Hooks
		first := r.hookedRun(rig.At("13:15"), &h, execs)
		if first.Done != rows-1 || first.Moved != 1 || first.Retries != 0 {
			t.Errorf("%+v", first)
		}
		if f := r.hookedRun(rig.At("13:30"), &h, execs); f.PastReturn != 1 || f.Retries != 0 {
			t.Errorf("%+v", f)
		}
		longest := 0
		for _, statement := range h.Log {
			longest = max(longest, len(statement))
		}
		if longest == 0 || longest > 2*literal.BulkBytes {
			t.Errorf("a statement of %d bytes was sent", longest)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_job_history WHERE entity_key = '7' AND LENGTH(payload) >= ?", 9<<20-100); n != 1 {
			t.Error("history lacks the payload")
		}
		r.Balanced()
	})
}

// grandfather lets rows be as they could before the tables had bounds.
func (r *testRig) grandfather() {
	r.T.Helper()
	r.Exec("ALTER TABLE p_future_job DROP CONSTRAINT p_future_job_payload_size, DROP CONSTRAINT p_future_job_named")
}

// hookedRun runs the slot of a time by a worker with hooks, and with patience for a few seconds.
func (r *testRig) hookedRun(now time.Time, h *rig.Hooks, execs *prescient.Registry) books.Figures {
	r.T.Helper()
	ctx, cancel := context.WithTimeout(r.T.Context(), time.Minute)
	defer cancel()
	figures, err := r.hookedWorker(now, h, execs, Options{Times: Times{Patience: 20 * time.Second}}).Run(ctx)
	r.Must(err)
	return figures
}

// A payload that is longer than statements of the server's may be by now is not called with, but ends, and is cancelled, with
// all that it holds.
func TestARowThatIsTooLongToBeReadEndsAsFailed(t *testing.T) {
	t.Parallel()
	servertest.EachFlavour(t, func(t *testing.T, flavour localserver.Flavour) {
		server := servertest.Private(t, flavour, "--max-allowed-packet=64M")
		r := newRig(t, servertest.On(t, server), 15*time.Minute)
		const rows = 10
		r.ManyDue(rig.At("13:15"), "check", 0, rows)
		r.grandfather()
		r.huge("7", 1+prescient.MaxRead>>20)
		r.huge("8", 1+prescient.MaxRead>>20)
		r.Exec("SET GLOBAL max_allowed_packet = 16777216")
		if n, err := r.Client.Cancel(t.Context(), r.App, prescient.Entity{Name: "order", Key: "8"}); err != nil || n != 1 {
			t.Error(n, err)
		}
		var c rig.Calls
		f := r.runAt(rig.At("13:15"), rig.Registry("check", c.Count, prescient.Guards{}), Options{})
		if f.Done != rows-2 || f.Failed != 1 || c.Of["7"] != 0 {
			t.Errorf("%+v, called %d times", f, c.Of["7"])
		}
		length := map[localserver.Flavour]string{localserver.MariaDB: "LENGTH", localserver.MySQL: "JSON_STORAGE_SIZE"}[flavour]
		for outcome, reason := range map[string]string{"failed": "not called: its payload%", "cancelled": ""} {
			if n := r.Count("SELECT COUNT(*) FROM p_job_history WHERE outcome = ? AND COALESCE(error, '') LIKE ? AND "+length+"(payload) > ?",
				outcome, reason, prescient.MaxRead); n != 1 {
				t.Errorf("history does not have the %s row with its payload", outcome)
			}
		}
		r.Balanced()
	})
}

// The table's triggers stand for whatever a server may refuse, or break off at.
func TestARowThatCannotBeWrittenIsSetApart(t *testing.T) {
	t.Parallel()
	const refuse = "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused on purpose'"
	for name, c := range map[string]struct {
		when, do             string
		ended, stuck, failed int
		outcome, said        string
	}{
		"as it is":              {"NEW.entity_key = '7' AND NEW.payload IS NOT NULL", refuse, 1, 0, 0, "done", "refused on purpose"},
		"in any way":            {"NEW.entity_key = '7'", refuse, 0, 0, 1, "", "refused on purpose"}, // which counts as an error
		"by a server that goes": {"NEW.entity_key = '7'", "KILL CONNECTION_ID()", 0, 1, 0, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			eachServerAt(t, time.Second, func(t *testing.T, r *testRig) {
				r.Needs(t, rig.Triggers)
				const rows = 30
				slot := r.InsertDue(rows)
				r.Exec("UPDATE p_future_job SET payload = '{\"a\": 1}'")
				r.Exec("CREATE TRIGGER p_poison BEFORE INSERT ON p_job_history FOR EACH ROW BEGIN IF " + c.when + " THEN " + c.do + "; END IF; END")
				var log lines
				var calls rig.Calls
				w := r.worker(time.Time{}, rig.Registry("check", calls.Count, prescient.Guards{}),
					Options{Times: Times{Lease: 4 * time.Second}, Log: zerolog.New(&log).Level(zerolog.InfoLevel)})
				figures, err := w.runSlot(t.Context(), slot, runOptions{parallel: 2})
				r.Must(err)
				if figures.Done != rows-1+c.ended || figures.Stuck != c.stuck || figures.Moved != c.failed || figures.Locked != 0 {
					t.Errorf("%+v", figures)
				}
				if n := r.Count("SELECT COUNT(*) FROM p_future_job"); n != c.stuck+c.failed {
					t.Errorf("%d rows are left", n)
				}
				if n := r.Count("SELECT COUNT(*) FROM p_job_history WHERE entity_key = '7' AND payload IS NULL AND outcome = ? AND error LIKE ?",
					c.outcome, "%"+c.said+"%"); n != c.ended {
					t.Errorf("%d ends of the row", n)
				}
				if said := log.all(); !strings.Contains(said, `"entity":"order/7"`) || !strings.Contains(said, c.said) {
					t.Errorf("the log does not name the row: %s", said)
				}
				if c.stuck > 0 { // the cause is done away with
					r.Exec("DROP TRIGGER p_poison")
					figures, err := w.runSlot(t.Context(), slot, runOptions{parallel: 2})
					if r.Must(err); figures.Done != 1 {
						t.Errorf("%+v", figures)
					}
				}
				r.Balanced()
			})
		})
	}
}

// An error that nobody here knows of, and that passes, costs a row nothing, though it is alone.
func TestARowThatIsRefusedByChanceEndsAsItIs(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.InsertDue(1)
		r.Exec("UPDATE p_future_job SET payload = '{\"a\": 1}'")
		var h rig.Hooks
		refused := 0
		h.OnStatement(func(statement string) error {
			if strings.Contains(statement, "p_job_history") && strings.Contains(statement, "INSERT") && refused < 2 {
				refused++
				return &mysql.MySQLError{Number: 1038} // out of memory to sort in
			}
			return nil
		})
		figures, err := r.hookedWorker(time.Time{}, &h, rig.Registry("check", rig.NothingToDo, prescient.Guards{}), Options{}).Sweep(t.Context())
		r.Must(err)
		if len(figures) != 1 || figures[0].Done != 1 || refused != 2 {
			t.Errorf("%+v, refused %d times", figures, refused)
		}
		if n := r.Count("SELECT COUNT(*) FROM p_job_history WHERE payload IS NOT NULL AND outcome = 'done' AND error IS NULL"); n != 1 {
			t.Error("history does not have the row as it was")
		}
	})
}

// Nobody but the owner, and who reschedules, can write such a count.
func TestACountBeyondWhatAProgramCountsToHoldsUpNothing(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		const rows = 40
		r.ManyDue(rig.At("13:15"), "check", 0, rows)
		r.Exec("UPDATE p_future_job SET total_ms = 18446744073709551615 WHERE entity_key IN ('7', '8', '9')")
		execs := rig.Registry("check", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
			if job.EntityKey == "7" && job.CheckCount == 0 {
				return prescient.At(job.NextCheckAt.Add(15 * time.Minute)), nil
			}
			return nil, nil
		}, prescient.Guards{})
		r.Cancels(t, rig.Order("9"))
		if figures := r.runAt(rig.At("13:15:01"), execs, Options{}); figures.Done != rows-2 || figures.Moved != 1 {
			t.Errorf("%+v; want all but two done, and one moved", figures)
		}
		if left := r.One(); left.EntityKey != "7" {
			t.Errorf("%+v is pending", left)
		}
		if figures := r.runAt(rig.At("13:30:01"), execs, Options{}); figures.Done != 1 || len(r.History()) != rows {
			t.Errorf("%+v, %d ends", figures, len(r.History()))
		}
	})
}

// An app gives the revision of what it inserts, and one that reschedules its counts: the highest stop no batch, when one is moved, ended or
// rolled forward.
func TestTheHighestNumberOfARowHoldsUpNothing(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		const rows = 40
		for i, column := range []string{"revision = 18446744073709551615", "check_count = 4294967295", "error_count = 4294967295", "put_off_count = 4294967295"} {
			t.Run(column, func(t *testing.T) {
				r.Exec("DELETE FROM p_future_job")
				r.Exec("DELETE FROM p_job_history")
				day := rig.At("13:15").AddDate(0, 0, i)
				r.ManyDue(day, "check", 0, rows)
				r.Exec("UPDATE p_future_job SET " + column + " WHERE entity_key IN ('7', '8')")
				unknown := rig.Registry("other", rig.NothingToDo, prescient.Guards{})
				if figures := r.runAt(day.Add(time.Second), unknown, Options{}); figures.Rows() != rows {
					t.Errorf("of an unknown job_exec: %+v", figures)
				}
				if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at = ?", day.UTC().Format(time.DateTime)); n != 0 {
					t.Errorf("%d rows stay in their slot", n)
				}
				r.Exec("UPDATE p_future_job SET " + column + " WHERE entity_key IN ('7', '8')")
				again := rig.Registry("check", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
					if job.EntityKey == "8" {
						return nil, fmt.Errorf("no")
					}
					return prescient.At(job.NextCheckAt.Add(15 * time.Minute)), nil
				}, prescient.Guards{})
				next := r.Pending()[0].NextCheckAt
				// Those that were put off before go further.
				if figures := r.runAt(next.Add(time.Second), again, Options{}); figures.Rows() < rows-2 || figures.Retries != 0 {
					t.Errorf("of one that comes again: %+v", figures)
				}
				if n := r.Count("SELECT COUNT(*) FROM p_future_job WHERE next_check_at = ?", next.UTC().Format(time.DateTime)); n != 0 {
					t.Errorf("%d rows stay in their slot", n)
				}
			})
		}
	})
}
