package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
)

// Each way in which a job_exec goes wrong has one line at warn, with an example, however many rows went that way; the slot
// run's own line counts them.
func TestTheLogHasASampleOfWhatWentWrong(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		execs := prescient.NewRegistry()
		execs.MustRegister("fails", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			return nil, errors.New("the carrier says 503")
		}, prescient.Guards{MaxErrors: prescient.None})
		execs.MustRegister("stumbles", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, errors.New("once more") }, prescient.Guards{})
		execs.MustRegister("panics", func(context.Context, prescient.FutureJob) (*time.Time, error) { panic("nil map") }, prescient.Guards{})
		execs.MustRegister("hangs", func(ctx context.Context, _ prescient.FutureJob) (*time.Time, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}, prescient.Guards{Timeout: 20 * time.Millisecond})
		execs.MustRegister("returns", func(context.Context, prescient.FutureJob) (*time.Time, error) {
			return prescient.At(rig.At("12:00")), nil
		}, prescient.Guards{})
		execs.MustRegister("settles", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }, prescient.Guards{})
		r.Must(execs.RegisterTx("tx-panics", func(context.Context, *sqlx.Tx, prescient.FutureJob) (*time.Time, error) { panic("nil pointer") }, prescient.Guards{}))
		r.Must(execs.RegisterTx("tx-fails", func(context.Context, *sqlx.Tx, prescient.FutureJob) (*time.Time, error) {
			return nil, errors.New("no row")
		}, prescient.Guards{}))
		r.Must(execs.RegisterBatch("batch-goes", func(context.Context, *prescient.Batch) error { runtime.Goexit(); return nil }, prescient.Guards{}))
		var jobs []prescient.NewJob
		for i := range 3 {
			for _, name := range append(execs.Names(), "tyop") {
				jobs = append(jobs, prescient.NewJob{Entity: rig.Order(fmt.Sprint(i)), JobExec: name, DueAt: rig.At("13:15")})
			}
		}
		_, err := r.Client.InsertMany(t.Context(), r.AppAt(rig.At("13:00")), jobs)
		r.Must(err)
		var log lines
		figures := r.runAt(rig.At("13:15:01"), execs, Options{Log: zerolog.New(&log).Level(zerolog.InfoLevel)})
		if figures.Rows() != len(jobs) || len(figures.Troubles) != 9 {
			t.Errorf("%+v", figures)
		}
		type line struct {
			Level, Message, Kind, Entity, Error string
			JobExec                             string `json:"job_exec"`
			Rows, Ended                         int
			Errors, Timeouts, Panics            int
			Unregistered                        int
		}
		said := make(map[string]line)
		for _, text := range strings.Split(strings.TrimSpace(log.all()), "\n") {
			var one line
			r.Must(json.Unmarshal([]byte(text), &one))
			if _, twice := said[one.JobExec]; twice {
				t.Errorf("twice: %s", text)
			}
			said[one.JobExec] = one
		}
		if run := said[""]; run.Message != "slot run" || run.Errors != 9 || run.Timeouts != 3 || run.Panics != 9 || run.Unregistered != 3 {
			t.Errorf("the slot run's line: %+v", run)
		}
		for name, want := range map[string]line{
			"fails": {Kind: "error", Ended: 3, Error: "the carrier says 503"}, "stumbles": {Kind: "error", Error: "once more"},
			"panics": {Kind: "panic", Error: "panicked: nil map"}, "hangs": {Kind: "timeout", Error: "timed out after 20ms"},
			"returns": {Kind: "past_return", Ended: 3, Error: "not after its slot"}, "tyop": {Kind: "unregistered", Error: `"tyop" is not registered`},
			"tx-panics": {Kind: "panic", Error: "nil pointer"}, "tx-fails": {Kind: "error", Error: "no row"},
			"batch-goes": {Kind: "panic", Error: "Goexit"},
		} {
			got := said[name]
			if got.Level != "warn" || got.Kind != want.Kind || got.Rows != 3 || got.Ended != want.Ended || !strings.Contains(got.Error, want.Error) ||
				!strings.HasPrefix(got.Entity, "order/") || got.Message == "" {
				t.Errorf("%s: %+v; want %+v", name, got, want)
			}
		}
		if len(said) != 10 {
			t.Errorf("%d lines: %s", len(said), log.all())
		}
	})
}

// A worker names a job_exec that it has not once an hour, not once a slot; so it does with very many names.
func TestAnUnregisteredNameIsSaidOnceAnHour(t *testing.T) {
	t.Parallel()
	var s namedLately
	now := rig.At("10:00")
	for _, c := range []struct {
		after time.Duration
		name  string
		want  bool
	}{
		{0, "tyop", true}, {time.Second, "tyop", false}, {2 * time.Second, "otehr", true}, {59 * time.Minute, "tyop", false},
		{time.Hour, "tyop", true}, {61 * time.Minute, "tyop", false}, {62 * time.Minute, "otehr", true},
	} {
		if got := s.first(c.name, now.Add(c.after)); got != c.want {
			t.Errorf("%s after %s: %t", c.name, c.after, got)
		}
	}
	for i := range 3 * maxNamed {
		s.first(fmt.Sprint(i), now.Add(3*time.Hour))
	}
	if len(s.names) != maxNamed {
		t.Errorf("%d names are remembered", len(s.names))
	}
	if !s.first("tyop", now.Add(5*time.Hour)) || len(s.names) != 1 {
		t.Errorf("after they are forgotten: %d", len(s.names))
	}
	eachServer(t, func(t *testing.T, r *testRig) {
		for i, due := range []string{"13:15", "13:30", "13:45"} {
			r.Insert(rig.At("13:00"), prescient.NewJob{Entity: rig.Order(fmt.Sprint(i)), JobExec: "tyop", DueAt: rig.At(due)})
		}
		var log lines
		w := r.worker(rig.At("14:00:30"), prescient.NewRegistry(), Options{Log: zerolog.New(&log).Level(zerolog.InfoLevel)})
		all, err := w.Sweep(t.Context())
		r.Must(err)
		if len(all) != 3 || log.count(`"job_exec":"tyop"`) != 1 || log.count(`"unregistered":1`) != 3 {
			t.Errorf("%d slots swept: %s", len(all), log.all())
		}
	})
}
