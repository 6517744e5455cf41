package outbox

import (
	"context"
	"os"
	"path/filepath"
	"strings"
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

// Nothing is lost, made up or out of order on any broker, whatever breaks. The brokers go round the servers, as neither knows the other:
// scripts/chaos/run has each on both.
func TestEventsSurviveWhatBreaksOnTheWay(t *testing.T) {
	flavours := []localserver.Flavour{localserver.MariaDB, localserver.MySQL}
	for i, flavour := range flavours {
		t.Run(string(flavour), func(t *testing.T) {
			t.Parallel()
			for j, broker := range Brokers() {
				if j%len(flavours) != i {
					continue
				}
				t.Run(broker, func(t *testing.T) {
					dir := filepath.Join(t.TempDir(), "files")
					r, err := Run(context.Background(), Options{Flavour: flavour, Broker: broker, Scenario: "mixed", Seed: 7, Duration: 5 * time.Second,
						Dir: dir})
					if err != nil {
						t.Fatal(err)
					}
					t.Logf("%d events, %d repeats, %d set aside, %d times something was broken", r.Events, r.Repeats, r.Aside, r.Tried)
					for _, f := range r.Findings {
						t.Error(f)
					}
					logRaces(t, dir)
				})
			}
		})
	}
}

// logRaces shows what the race detector has found in a process whose log lies in a folder: else its exit code is all that is left of that.
func logRaces(t *testing.T, dir string) {
	t.Helper()
	logs, err := filepath.Glob(filepath.Join(dir, "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range logs {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, race, found := strings.Cut(string(text), "WARNING: DATA RACE"); found {
			t.Logf("%s: %.6000s", filepath.Base(name), race)
		}
	}
}
