package serve_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient"
	"prescient/prescient/longrun"
)

// exports is a program whose job_exec export is a long run that does what the test says.
func exports(r *rig.Rig, fn longrun.Func) {
	r.Options.Register = func(_ context.Context, registry *prescient.Registry, deps cmd.Deps) error {
		return deps.Long.Register(registry, "export", fn, prescient.Guards{})
	}
	r.At("13:05")
	r.OK("migrate")
	r.OK("insert", "--entity", "order/42", "--exec", "export", "--at", "2026-11-20 13:15")
	r.At("13:20")
}

func TestASlotRunEndsWithItsLongRuns(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		called, release := make(chan struct{}), make(chan struct{})
		exports(r, func(context.Context, *longrun.Run) (*time.Time, error) {
			close(called)
			<-release
			return nil, nil
		})
		ended := make(chan rig.Result, 1)
		go func() {
			ended <- rig.Execute(r.Context(), r.Options, r.EnvironmentOf([]string{"run"}), "", "run")
		}()
		r.Await(called)
		rig.Eventually(r.T, "the bucket is free", func() bool {
			return r.Count("SELECT COUNT(*) FROM slot_run WHERE finished_at IS NOT NULL") > 0
		})
		close(release)
		got := <-ended
		got.Wants(r.T, cmd.ExitOK, `"message":"slot run"`)
		if n := r.Count("SELECT COUNT(*) FROM job_history WHERE job_exec = 'export' AND outcome = 'done'"); n != 1 {
			r.Errorf("%d ends; %v", n, got)
		}
	})
}

func TestLongRunsAreHandedOnByWhatIsToldToStop(t *testing.T) {
	for _, command := range []string{"run", "sweep", "work"} {
		t.Run(command, func(t *testing.T) {
			rig.EachFlavour(t, func(r *rig.Rig) {
				called := make(chan struct{})
				var once sync.Once
				var mu sync.Mutex
				var began []string
				exports(r, func(ctx context.Context, run *longrun.Run) (*time.Time, error) {
					mu.Lock()
					began = append(began, string(run.Checkpoint()))
					first := len(began) == 1
					mu.Unlock()
					for first {
						if err := run.Save(ctx, []byte("half")); err != nil {
							return nil, err
						}
						once.Do(func() { close(called) })
					}
					return nil, nil
				})
				ctx, stop := context.WithCancelCause(r.Context())
				defer stop(nil)
				ended := make(chan rig.Result, 1)
				go func() {
					ended <- rig.Execute(ctx, r.Options, r.EnvironmentOf([]string{command}), "", command)
				}()
				r.Await(called)
				stop(errors.New("told to stop"))
				got := <-ended
				got.Wants(r.T, cmd.ExitOK)
				if n := r.Count("SELECT COUNT(*) FROM long_run WHERE agent = '' AND checkpoint = 'half' AND ended_at IS NULL"); n != 1 {
					r.Fatalf("it was not handed on: %v", got)
				}
				r.At("13:35")
				r.OK("run")
				if n := r.Count("SELECT COUNT(*) FROM job_history WHERE job_exec = 'export' AND outcome = 'done'"); n != 1 || strings.Join(began, ",") != ",half" {
					r.Errorf("%d ends, calls that began with %q", n, began)
				}
			})
		})
	}
}

func TestAnHTTPCheckMayBeALongRun(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		serveJob(r, "ask", func(job prescient.FutureJob) string { return "" })
		r.At("13:05")
		r.OK("migrate")
		path := r.Variables["PRESCIENT_CONFIG"]
		text, err := os.ReadFile(path)
		r.Must(err)
		r.Variables["PRESCIENT_CONFIG"] = r.Configure(string(text) + "      long: true\n")
		r.OK("insert", "--entity", "order/42", "--exec", "ask", "--at", "2026-11-20 13:15")
		r.OK("schedule", "create", "export", "15 13 * * *", "--exec", "ask", "--long")
		r.At("13:20")
		r.OK("sweep")
		r.OK("sweep")
		if n := r.Count("SELECT COUNT(*) FROM job_history WHERE job_exec = 'ask' AND outcome = 'done'"); n != 2 {
			r.Errorf("%d ends", n)
		}
		if n := r.Count("SELECT COUNT(*) FROM long_run WHERE outcome = 'done'"); n == 0 {
			r.Error("none was a long run")
		}
	})
}
