package http

import (
	"io"
	nethttp "net/http"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/prescienttest"
)

// The database's clock is behind and ahead of this machine's: "look again in 2 h" means two hours later there.
func TestNextInLeadsToTheSlotThatIsThatMuchLater(t *testing.T) {
	answers := make(chan string, 2)
	server := receiver(t, func(w nethttp.ResponseWriter, _ *nethttp.Request) { io.WriteString(w, <-answers) })
	check := endpoint(t, Options{URL: server.URL}).Check
	for _, off := range []time.Duration{-3 * time.Hour, -10 * time.Minute, 10 * time.Minute, 24 * time.Hour} {
		start := time.Now().Add(off).UTC().Truncate(15 * time.Minute)
		life := prescienttest.Simulate(t, prescienttest.Simulation{Func: check, Now: start,
			Job: prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "42"}, JobExec: "unshipped", DueAt: start.Add(15 * time.Minute)}})
		answers <- `{"next_in": "2h"}`
		answers <- "null"
		life.Step()
		life.RequirePendingAt(start.Add(2*time.Hour + 15*time.Minute + time.Minute)) // the answer took a moment: the slot after
		life.Run().RequireEnded(prescient.Done)
		life.RequireCalls(2)
	}
}
