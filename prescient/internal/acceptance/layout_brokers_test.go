package acceptance

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A program compiles the clients of those brokers only that it names: each is imported by its own package, and that by programs.
func TestEachBrokersClientIsForItsOwnPackage(t *testing.T) {
	const brokers = "prescient/event/broker/"
	clients := map[string]string{"github.com/nats-io/nats.go": "nats", "github.com/twmb/franz-go": "kafka", "github.com/redis/go-redis": "redis",
		"github.com/rabbitmq/amqp091-go": "rabbitmq", "github.com/cloudevents/sdk-go": "cloudevents", "github.com/standard-webhooks": "webhook"}
	programs := []string{"cmd/prescient", "scripts/chaos/outbox", "scripts/bench/internal/events"}
	seen := make(map[string]bool)
	for _, s := range sources(t) {
		folder := path.Dir(s.name)
		if s.test || slices.Contains(programs, folder) || strings.HasPrefix(s.name, "scripts/bench/") {
			continue
		}
		for _, spec := range s.file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(name, "prescient/"+brokers) {
				t.Errorf("%s imports %s, which is for programs", s.name, name)
			}
			for client, of := range clients {
				if !strings.HasPrefix(name, client) {
					continue
				}
				seen[client] = true
				if folder != brokers+of {
					t.Errorf("%s imports %s, which is for %s", s.name, name, brokers+of)
				}
			}
		}
	}
	for client := range clients {
		if !seen[client] {
			t.Errorf("nobody imports %s", client)
		}
	}
}

// A program compiles what makes the API, what has people sign in to the page, and what sends e-mail, only where it names them.
func TestWhatServeMountsIsForItsOwnPackages(t *testing.T) {
	rooms := map[string]string{"github.com/danielgtaylor/huma": "prescient/api", "github.com/alexedwards/scs": "prescient/page/login", "github.com/coreos/go-oidc": "prescient/page/login",
		"golang.org/x/oauth2": "prescient/page/login", "github.com/wneessen/go-mail": "prescient/notify/mail"}
	seen := make(map[string]bool)
	for _, s := range sources(t) {
		folder := path.Dir(s.name)
		for _, spec := range s.file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			for library, room := range rooms {
				switch {
				case s.test:
				case strings.HasPrefix(name, library):
					if seen[library] = true; folder != room {
						t.Errorf("%s imports %s, which is for %s", s.name, name, room)
					}
				case name == "prescient/"+room && folder != "cmd/prescient" && folder != "scripts/bench/internal/large":
					t.Errorf("%s imports %s, which is for programs", s.name, name)
				}
			}
		}
	}
	for library := range rooms {
		if !seen[library] {
			t.Errorf("nobody imports %s", library)
		}
	}
}

// What drives a browser is for the tests of the page that do: no program compiles it.
func TestABrowserIsDrivenByTestsAlone(t *testing.T) {
	const driver, room = "github.com/chromedp/", "prescient/page/internal/browser"
	importers := 0
	for _, s := range sources(t) {
		for _, spec := range s.file.Imports {
			if !strings.HasPrefix(strings.Trim(spec.Path.Value, `"`), driver) {
				continue
			}
			importers++
			if !s.test || path.Dir(s.name) != room {
				t.Errorf("%s imports %s, which is for the tests of %s", s.name, spec.Path.Value, room)
			}
		}
	}
	if importers == 0 {
		t.Errorf("nobody imports %s", driver)
	}
}
