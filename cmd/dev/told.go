package dev

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"prescient/cmd/internal/output"
	"prescient/cmd/internal/words"
	"prescient/config"
	"prescient/prescient"
	"prescient/prescient/worker"
)

// The kinds of lines.
const (
	kindHTTP    = "http"    // a call that went out over HTTP
	kindCommand = "command" // one that ran a program
	kindCall    = "call"    // one of the program's own
	kindAgain   = "again"   // the check is called again
	kindEnded   = "ended"
	kindWaits   = "waits" // nobody has its job_exec, or it was not called for another reason
	kindDropped = "dropped"
	kindEvent   = "event"
	kindRead    = "read" // the configuration
)

// line is one thing that happened.
type line struct {
	At      time.Time `json:"at"`
	What    string    `json:"what"`
	JobExec string    `json:"job_exec,omitempty"`
	Entity  string    `json:"entity,omitempty"`
	Status  int       `json:"status,omitempty"` // of an answer over HTTP
	TookMS  *int64    `json:"took_ms,omitempty"`
	Topic   string    `json:"topic,omitempty"`
	Key     string    `json:"key,omitempty"`
	ID      string    `json:"id,omitempty"`
	Says    string    `json:"says,omitempty"`
}

// String is the line for people, but for its time and what it is.
func (l line) String() string {
	var parts []string
	for _, part := range []string{l.JobExec, l.Entity, l.Topic} {
		if part != "" {
			parts = append(parts, part)
		}
	}
	if l.ID != "" {
		parts = append(parts, "key "+l.Key, "id "+l.ID)
	}
	if l.Status != 0 {
		parts = append(parts, strings.TrimSpace(fmt.Sprintf("%d %s", l.Status, http.StatusText(l.Status))))
	}
	if l.TookMS != nil {
		parts = append(parts, fmt.Sprintf("%d ms", *l.TookMS))
	}
	if l.Says != "" {
		parts = append(parts, l.Says)
	}
	return strings.Join(parts, "  ")
}

// longestSaid is how much of an answer or of a payload stands in a line, in characters.
const longestSaid = 300

// told prints lines. It is for concurrent use.
type told struct {
	mu   sync.Mutex
	out  io.Writer
	json bool
}

func (t *told) line(l line) {
	l.At, l.Says = time.Now().UTC(), words.Clip(l.Says, longestSaid)
	t.mu.Lock()
	defer t.mu.Unlock()
	// Who reads the lines may be gone; what works goes on.
	if t.json {
		_ = output.JSON(t.out, l)
		return
	}
	_ = output.Say(t.out, "%s  %-7s  %s", l.At.Format("15:04:05.000"), l.What, l.String())
}

// calls has a line printed for each call, once it is over.
func (t *told) calls(jobs config.Jobs) prescient.Middleware {
	kinds := make(map[string]string)
	for _, job := range jobs.HTTP {
		kinds[job.Exec] = kindHTTP
	}
	for _, job := range jobs.Command {
		kinds[job.Exec] = kindCommand
	}
	return func(next func(ctx context.Context, call prescient.Call) error) func(ctx context.Context, call prescient.Call) error {
		return func(ctx context.Context, call prescient.Call) (err error) {
			began, got := time.Now(), new(answer)
			err = errors.New("it panicked") // unless it returns
			defer func() {
				what := kinds[call.JobExec]
				if what == "" {
					what = kindCall
				}
				took := time.Since(began).Milliseconds()
				says := strings.TrimSpace(string(got.body))
				if err != nil {
					says = words.Of(err)
				}
				t.line(line{What: what, JobExec: call.JobExec, Entity: entitiesOf(call.Jobs), Status: got.status, TookMS: &took, Says: says})
			}()
			err = next(context.WithValue(ctx, answerKey{}, got), call)
			return err
		}
	}
}

// entitiesOf names the rows of a call.
func entitiesOf(jobs []prescient.FutureJob) string {
	switch len(jobs) {
	case 0:
		return ""
	case 1:
		return jobs[0].Entity().String()
	}
	return fmt.Sprintf("%s and %d more", jobs[0].Entity(), len(jobs)-1)
}

// ended prints how a long run ended.
func (t *told) ended(check prescient.FutureJob, outcome prescient.Outcome) {
	t.line(line{What: kindEnded, JobExec: check.JobExec, Entity: check.Entity().String(), Says: string(outcome)})
}

// answers prints what became of checks, once that is committed.
func (t *told) answers(registry *prescient.Registry, results []worker.Result) {
	for _, r := range results {
		if registry.LongOf(r.Job.JobExec) == nil || r.Outcome != "" { // else a long run was started or offered
			t.line(became(r))
		}
	}
}

// became is the line of what became of a check.
func became(r worker.Result) line {
	l := line{JobExec: r.Job.JobExec, Entity: r.Job.Entity().String()}
	layout := time.TimeOnly
	if r.Next.Sub(r.Job.NextCheckAt) >= 24*time.Hour {
		layout = time.DateTime
	}
	slot := r.Next.UTC().Format(layout)
	switch {
	case r.Dropped:
		l.What, l.Says = kindDropped, "the app has cancelled or changed the check meanwhile, and the answer is thrown away"
	case r.Outcome != "" && r.Reason == "":
		l.What, l.Says = kindEnded, string(r.Outcome)
	case r.Outcome != "":
		l.What, l.Says = kindEnded, string(r.Outcome)+": "+r.Reason
	case r.Called:
		l.What, l.Says = kindAgain, "in the slot "+slot
	default:
		l.What, l.Says = kindWaits, "for the slot "+slot+": "+r.Reason
	}
	return l
}
