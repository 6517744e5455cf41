package serve_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/client"
	"prescient/prescient/event"
)

// receiver is an app with a webhook: it keeps the events that it gets.
type receiver struct {
	mu   sync.Mutex
	ids  map[string]int
	body map[string]string
}

func receive(r *rig.Rig) (got *receiver, url string) {
	got = &receiver{ids: make(map[string]int), body: make(map[string]string)}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		body, _ := io.ReadAll(request.Body)
		got.mu.Lock()
		defer got.mu.Unlock()
		id := request.Header.Get("Prescient-Id")
		if strings.HasPrefix(id, "bad") {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		got.ids[id]++
		got.body[id] = string(body)
	}))
	r.Cleanup(server.Close)
	return got, server.URL
}

func (g *receiver) count() int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return len(g.ids)
}

// publish puts events into the outbox.
func publish(r *rig.Rig, ids ...string) {
	r.Helper()
	c, err := client.New(r.Context(), r.DB, client.Options{})
	r.Must(err)
	for _, id := range ids {
		r.Must(event.New(c).Publish(r.Context(), r.DB, event.Event{ID: id, Topic: "orders.late", Key: "order/" + id, Payload: []byte("about " + id)}))
	}
}

func TestForwardPublishesUntilTheOutboxIsEmpty(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		got, url := receive(r)
		r.Migrate()
		r.Variables["PRESCIENT_CONFIG"] = r.Configure(fmt.Sprintf("events:\n  routes:\n  - topics: orders.*\n    url: %s/hook\n", url))
		says := func(args []string, wants ...string) {
			said := r.OK(args...)
			for _, want := range wants {
				if !strings.Contains(said, want) {
					r.Errorf("%q says %q; want %q", args, said, want)
				}
			}
		}
		publish(r, "1", "2", "bad-3")
		p := r.Start("once", "forward", "--until-empty")
		p.Ends(r.T, cmd.ExitOK)
		if got.count() != 2 || got.ids["1"] != 1 || got.body["2"] != "about 2" {
			r.Errorf("got %v, %v", got.ids, got.body)
		}
		says([]string{"event", "set-aside"}, "bad-3", "orders.late", "422")
		says([]string{"event", "resend", "--topic", "orders.late", "--dry-run"}, "would have resent 1")
		says([]string{"event", "drop", "--all", "--dry-run"}, "would have dropped 1")
		r.Execute("event", "drop", "1", "--dry-run").Wants(r.T, cmd.ExitUsage, "give numbers, or --topic, or --all")
		says([]string{"event", "resend", "--topic", "orders.late"}, "resent 1")
		says([]string{"event", "status"}, "orders.late", "1")
		says([]string{"pause", "--events", "--reason", "a clone"}, "(events)")
		r.Start("paused", "forward", "--until-empty").Ends(r.T, cmd.ExitOK)
		if got.count() != 2 {
			r.Errorf("under a pause: %v", got.ids)
		}
		says([]string{"event", "status"}, "forwarders are paused", "a clone", "orders.late", "1")
		r.OK("resume", "--events")
		p = r.Start("again", "forward", "--until-empty")
		p.Ends(r.T, cmd.ExitOK)
		r.Execute("event", "drop", "--all").Wants(r.T, cmd.ExitUsage, "--yes")
		says([]string{"event", "drop", "--all", "--yes"}, "dropped 1")
		r.OK("event", "set-aside", "--json")
		says([]string{"event", "set-aside"}, "nothing was set aside")
		says([]string{"event", "status"}, "nothing waits in the outbox")
	})
}

// A timer's forward ends with an event that cannot be published, as often as it is started, and says which.
func TestForwardUntilEmptyNamesWhatCannotBePublished(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		got, url := receive(r)
		r.Migrate()
		r.Variables["PRESCIENT_CONFIG"] = r.Configure(fmt.Sprintf("events:\n  routes:\n  - topics: orders.*\n    url: %s/hook\n    refused: hold\n", url))
		publish(r, "bad-1", "2")
		for _, name := range []string{"first", "second"} {
			p := r.Start(name, "forward", "--until-empty")
			p.Ends(r.T, cmd.ExitFailure)
			p.Says(r.T, `prescient: events are left in the outbox: event "bad-1" of topic orders.late with key "order/bad-1": `)
		}
		if got.count() != 1 || got.ids["2"] != 1 {
			r.Errorf("got %v", got.ids)
		}
	})
}

func TestWorkPublishesBesideItsSlots(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		got, url := receive(r)
		r.Variables["PRESCIENT_SLOTS_RESOLUTION"] = "1s"
		// Where the machine is slow the schedule is created as the slot of its timer has passed, and the sweeper has that.
		r.Variables["PRESCIENT_SWEEP_EVERY"], r.Variables["PRESCIENT_SWEEP_GRACE"] = "1s", "1s"
		r.OK("migrate")
		r.Variables["PRESCIENT_CONFIG"] = r.Configure(fmt.Sprintf("events:\n  routes:\n  - topics: orders.late\n    url: %[1]s\n  - topics: tick\n    url: %[1]s\n    refused: hold\n", url))
		p := r.Start("worker", "work", "--listen", "127.0.0.1:0")
		address := p.Address(r.T)
		r.OK("schedule", "create", "every", "@every 1s", "--topic", "tick")
		publish(r, "1")
		rig.Eventually(r.T, "an event arrives", func() bool { return got.count() >= 1 })
		rig.Eventually(r.T, "events of both kinds arrive", func() bool { return got.count() >= 3 })
		rig.Eventually(r.T, "the metrics say so", func() bool {
			answer, err := http.Get("http://" + address + "/metrics")
			r.Must(err)
			defer answer.Body.Close()
			text, err := io.ReadAll(answer.Body)
			r.Must(err)
			return strings.Contains(string(text), `prescient_events_published_total{topic="orders.late"} 1`) && strings.Contains(string(text), `prescient_event_delay_seconds_count{topic="tick"}`)
		})
		r.Must(p.Process.Signal(syscall.SIGTERM))
		p.Ends(r.T, cmd.ExitOK)
		if n := r.Count("SELECT COUNT(*) FROM event_shard WHERE allocated_until > UTC_TIMESTAMP(6)"); n != 0 {
			r.Errorf("%d leases were not given back", n)
		}
	})
}

func TestForwardRefusesRoutesThatCannotBe(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		for _, test := range []struct{ name, routes, want string }{
			{"no route", "[]", "events.routes is empty"},
			{"a broker that is not there", "[{topics: a, url: 'pigeon://h'}]", "events.routes[0].url: \"pigeon\" is no broker that this program was built with; it has none"},
			{"a format that is not there", "[{topics: a, url: 'log:', format: xml}]", "events.routes[0].format: \"xml\" is not known here; there are plain"},
		} {
			r.Variables["PRESCIENT_CONFIG"] = r.Configure("events:\n  routes: " + test.routes + "\n")
			if got := r.Execute("forward"); got.Code == cmd.ExitOK || !strings.Contains(got.Err, test.want) {
				r.Errorf("%s: %v; want %q", test.name, got, test.want)
			}
		}
	})
}
