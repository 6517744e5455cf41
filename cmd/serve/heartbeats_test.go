package serve_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient"
	"prescient/prescient/longrun"
)

// beats is a service outside, whose URLs are /NAME/start, /NAME/success and /NAME/failure.
type beats struct {
	mu  sync.Mutex
	all []string
}

// heartbeats configures services of some names, the first of which is told of slots.
func heartbeats(r *rig.Rig, names ...string) *beats {
	r.Helper()
	var b beats
	service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.all = append(b.all, strings.TrimPrefix(request.URL.Path, "/"))
	}))
	r.Cleanup(service.Close)
	text := "heartbeats:\n  slots: " + names[0] + "\n  urls:\n"
	for _, name := range names {
		text += fmt.Sprintf("  - {name: %s, start: '%[2]s/%[1]s/start', success: '%[2]s/%[1]s/success', failure: '%[2]s/%[1]s/failure'}\n", name, service.URL)
	}
	r.Variables["PRESCIENT_CONFIG"] = r.Configure(text)
	return &b
}

// wants wants calls since it was asked last. Those of different names come in any order.
func (b *beats) wants(t *testing.T, when string, want ...string) {
	t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	slices.SortStableFunc(b.all, func(x, y string) int {
		x, _, _ = strings.Cut(x, "/")
		y, _, _ = strings.Cut(y, "/")
		return strings.Compare(x, y)
	})
	if !slices.Equal(b.all, want) {
		t.Errorf("%s: %q; want %q", when, b.all, want)
	}
	b.all = nil
}

func TestServicesOutsideAreToldOfSlotsAndSchedules(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		var fails error
		r.Options.Register = func(_ context.Context, registry *prescient.Registry, deps cmd.Deps) error {
			return errors.Join(registry.Register("digest", func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, fails },
				prescient.Guards{MaxErrors: prescient.None}),
				deps.Long.Register(registry, "export", func(_ context.Context, run *longrun.Run) (*time.Time, error) {
					if job := run.Job(); job.Payload != nil || job.Heartbeat != "exports" {
						r.Errorf("a long run has the payload %q and the heartbeat %q", job.Payload, job.Heartbeat)
					}
					if fails != nil {
						return nil, prescient.Final(fails)
					}
					return nil, nil
				}, prescient.Guards{}))
		}
		b := heartbeats(r, "all", "digests", "exports", "nightly", "sends")
		r.At("10:00")
		r.OK("migrate")
		create := func(args ...string) { r.OK(append([]string{"schedule", "create"}, args...)...) }
		create("a", "*/15 * * * *", "--exec", "digest", "--heartbeat", "digests")
		create("b", "*/15 * * * *", "--exec", "export", "--long", "--heartbeat", "exports")
		create("c", "*/15 * * * *", "--topic", "t", "--heartbeat", "sends")
		create("d", "*/15 * * * *", "--exec", "digest", "--heartbeat", "unknown")
		create("e", "*/15 * * * *", "--exec", "digest")
		r.OK("job", "import", rig.File(r.T, "jobs.yaml", "job: nightly\ncrontab: '*/15 * * * *'\nheartbeat: nightly\nsteps:\n- {name: first, exec: digest}\n"))
		r.Says(r.OK("schedule", "show", "a"), "heartbeat", "digests")

		r.At("10:15:01")
		got := r.Execute("run")
		got.Wants(r.T, cmd.ExitOK, `"heartbeat":"unknown"`)
		b.wants(r.T, "when all goes well", "all/success", "digests/start", "digests/success", "exports/start", "exports/success", "nightly/start", "nightly/success",
			"sends/success")
		if n := strings.Count(got.Err, `"heartbeat":"unknown"`); n != 1 {
			r.Errorf("an unknown name is logged %d times: %s", n, got.Err)
		}

		fails = errors.New("no luck")
		r.At("10:30:01")
		r.OK("run")
		b.wants(r.T, "when calls fail", "all/success", "digests/start", "digests/failure", "exports/start", "exports/failure", "nightly/start", "nightly/failure",
			"sends/success")

		fails = nil
		for _, id := range []string{"b", "c", "d", "e"} {
			r.OK("schedule", "delete", id)
		}
		r.OK("job", "delete", "nightly")
		r.OK("schedule", "update", "a", "--catch-up", "skip")
		r.At("12:00:01")
		r.OK("sweep")
		b.wants(r.T, "when a run was missed", "all/success", "digests/failure")
	})
}

// A process that ends waits for services for a moment, and its slot is done before.
func TestAServiceThatHangsHoldsUpNoSlot(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		asked, release := make(chan struct{}, 10), make(chan struct{})
		service := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, request *http.Request) {
			asked <- struct{}{}
			select {
			case <-release:
			case <-request.Context().Done():
			}
		}))
		r.Cleanup(service.Close)
		defer close(release)
		r.Variables["PRESCIENT_CONFIG"] = r.Configure("heartbeats: {slots: a, urls: [{name: a, success: '" + service.URL + "/s3cret'}]}\n")
		r.At("10:00")
		r.OK("migrate")
		r.At("10:15:01")
		ended := make(chan rig.Result, 1)
		go func() { ended <- rig.Execute(r.Context(), r.Options, r.EnvironmentOf([]string{"run"}), "", "run") }()
		<-asked
		if n := r.Count("SELECT COUNT(*) FROM slot_run WHERE finished_at IS NOT NULL"); n != 1 {
			r.Errorf("%d buckets are finished when the service is asked", n)
		}
		got := <-ended
		got.Wants(r.T, cmd.ExitOK, "heartbeats were not sent: the process ends")
		if strings.Contains(got.Err, "s3cret") {
			r.Errorf("the log has the URL: %s", got.Err)
		}
	})
}
