package outbox

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"prescient/prescient/localserver"
)

func TestMain(m *testing.M) {
	if IsForwarder() {
		Main()
	}
	os.Exit(m.Run())
}

// Nothing is lost, made up or out of order on any broker, whatever breaks.
func TestEventsSurviveWhatBreaksOnTheWay(t *testing.T) {
	for _, flavour := range []localserver.Flavour{localserver.MariaDB, localserver.MySQL} {
		t.Run(string(flavour), func(t *testing.T) {
			t.Parallel()
			for _, broker := range Brokers() {
				t.Run(broker, func(t *testing.T) {
					r, err := Run(context.Background(), Options{Flavour: flavour, Broker: broker, Scenario: "mixed", Seed: 7, Duration: 5 * time.Second,
						Dir: filepath.Join(t.TempDir(), "files")})
					if err != nil {
						t.Fatal(err)
					}
					t.Logf("%d events, %d repeats, %d set aside, %d times something was broken", r.Events, r.Repeats, r.Aside, r.Tried)
					for _, f := range r.Findings {
						t.Error(f)
					}
				})
			}
		})
	}
}
