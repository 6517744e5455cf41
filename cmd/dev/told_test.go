package dev

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"prescient/config"
	"prescient/config/value"
	"prescient/prescient"
	"prescient/prescient/event/broker"
	"prescient/prescient/worker"
)

// A line for people has all that one for programs has, in one line, and nothing that drives their terminal.
func TestALineForPeople(t *testing.T) {
	slot := time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC)
	job := prescient.FutureJob{EntityName: "order", EntityKey: "1", JobExec: "look", NextCheckAt: slot}
	event := broker.Message{ID: "e1", Topic: "orders.late", Key: "order/1", Body: []byte("{\x1b[31m\n}")}
	for _, test := range []struct {
		want string
		do   func(*told)
	}{
		{"again    look  order/1  in the slot 13:00:05", func(t *told) {
			t.line(became(worker.Result{Job: job, Called: true, Next: slot.Add(5 * time.Second)}))
		}},
		{"again    look  order/1  in the slot 2026-11-21 13:00:00", func(t *told) {
			t.line(became(worker.Result{Job: job, Called: true, Next: slot.Add(24 * time.Hour)}))
		}},
		{"waits    look  order/1  for the slot 13:00:10: nobody has it", func(t *told) {
			t.line(became(worker.Result{Job: job, Unregistered: true, Next: slot.Add(10 * time.Second), Reason: "nobody has it"}))
		}},
		{"ended    look  order/1  done", func(t *told) { t.line(became(worker.Result{Job: job, Called: true, Outcome: prescient.Done})) }},
		{"ended    look  order/1  failed: no luck", func(t *told) {
			t.line(became(worker.Result{Job: job, Called: true, Failed: true, Outcome: prescient.Failed, Reason: "no luck"}))
		}},
		{"dropped  look  order/1  the app has", func(t *told) {
			t.line(became(worker.Result{Job: job, Called: true, Outcome: prescient.Done, Dropped: true}))
		}},
		{`event    orders.late  key order/1  id e1  {\x1b[31m\n}`, func(t *told) { _ = sink{told: t}.Publish(context.Background(), event) }},
		{"event    orders.late  key order/1  id e1  no route of", func(t *told) { _ = sink{told: t, unrouted: true}.Publish(context.Background(), event) }},
		{"event    orders.late  key order/1  id e1  2 bytes", func(t *told) {
			event.Body = []byte("\xff\x00")
			_ = sink{told: t}.Publish(context.Background(), event)
		}},
		{"http     asks  order/1  503 Service Unavailable  0 ms  no luck", func(t *told) { called(t, "asks", 503, errors.New("no luck")) }},
		{"command  runs  order/1  0 ms  exit 1", func(t *told) { called(t, "runs", 0, errors.New("exit 1")) }},
		{"call     look  order/1  0 ms", func(t *told) { called(t, "look", 0, nil) }},
		{"call     look  order/1  0 ms  it panicked", func(t *told) {
			defer func() { _ = recover() }()
			called(t, "look", 0, errPanics)
		}},
	} {
		var out bytes.Buffer
		synctest.Test(t, func(*testing.T) { test.do(&told{out: &out}) }) // in which no time passes
		_, got, _ := strings.Cut(out.String(), "  ")                     // the time
		if !strings.HasPrefix(got, test.want) || strings.Count(got, "\n") != 1 || strings.HasSuffix(test.want, "ms") && got != test.want+"\n" {
			t.Errorf("%q; want %q", got, test.want)
		}
	}
}

var errPanics = errors.New("panic")

// called has a job_exec called that is answered so.
func called(t *told, exec string, status int, answer error) {
	jobs := config.Jobs{HTTP: []config.HTTPJob{{Exec: "asks"}}, Command: []config.CommandJob{{Exec: "runs"}}}
	do := t.calls(jobs)(func(ctx context.Context, _ prescient.Call) error {
		if answer == errPanics {
			panic("no")
		}
		if status != 0 {
			request, _ := http.NewRequestWithContext(ctx, http.MethodPost, "http://h", nil)
			_, _ = answered(gives(status)).RoundTrip(request)
		}
		return answer
	})
	_ = do(context.Background(), prescient.Call{JobExec: exec, Jobs: []prescient.FutureJob{{EntityName: "order", EntityKey: "1"}}})
}

// gives is a transport that gives this status.
type gives int

func (g gives) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: int(g), Body: http.NoBody}, nil
}

// Who writes a file may be half-way, put another one in its place, or take it away for a moment.
func TestAFileIsReadAgainOnceItRests(t *testing.T) {
	path := filepath.Join(t.TempDir(), "prescient.yaml")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f := newFile(path)
	looks := func(what string, want ...bool) {
		t.Helper()
		for i, want := range want {
			if f.changed() != want {
				t.Errorf("%s, look %d: %v", what, i+1, !want)
			}
		}
	}
	looks("there is none", false, false)
	write("a")
	looks("it comes", false, true, false)
	write("ab")
	looks("it is being written", false)
	write("abc")
	looks("it is written", false, true, false)
	// As those of a checkout, or of an image, have one time, and a link leads now to the one, now to the other.
	for i, name := range []string{"one", "two"} {
		file := filepath.Join(filepath.Dir(path), name)
		if err := errors.Join(os.WriteFile(file, []byte(name), 0o600), os.Chtimes(file, time.Unix(0, 0), time.Unix(0, 0)), os.Symlink(file, path+".new"), os.Rename(path+".new", path)); err != nil {
			t.Fatal(err)
		}
		looks(fmt.Sprint("it is file ", i), false, true, false)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	looks("it is gone", false, true, false)
}

// From a pipe nothing comes the second time, or it is waited for without end.
func TestAFileThatCannotBeReadAgainIsRefused(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := errors.Join(syscall.Mkfifo(pipe, 0o600), os.Symlink(pipe, filepath.Join(dir, "link")), os.WriteFile(filepath.Join(dir, "file"), nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	for path, good := range map[string]bool{pipe: false, filepath.Join(dir, "link"): false, "/dev/tty": false, os.DevNull: true, dir: true, filepath.Join(dir, "none"): true, filepath.Join(dir, "file"): true} {
		if err := newFile(path).check(); (err == nil) != good || err != nil && !strings.Contains(err.Error(), "is no regular file") {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Every event is printed: those that a route would take as that would have them, and others.
func TestRoutesPrint(t *testing.T) {
	given := []config.Route{{Topics: "orders.*", URL: value.NewSecret("nats://h"), Format: "cloudevents", Refused: config.RefusedHold, Secret: value.NewSecret("s")}}
	got := printed(given)
	if len(got) != 2 || got[0].URL.Reveal() != "dev:" || got[0].Topics != "orders.*" || got[0].Format != "cloudevents" || !got[0].Secret.IsZero() || got[1].Topics != "*" || got[1].URL.Reveal() != unrouted {
		t.Errorf("%+v", got)
	}
	if given[0].URL.Reveal() != "nats://h" {
		t.Error("what was read is changed")
	}
	if got := printed(nil); len(got) != 1 || got[0].URL.Reveal() != "dev:" || got[0].Topics != "*" {
		t.Errorf("without a route: %+v", got)
	}
}

// An address that is taken is refused where somebody asked for it; else another one does.
func TestAnAddressThatIsTaken(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err := listen(t.Context(), taken.Addr().String(), true); err == nil || !strings.HasPrefix(err.Error(), "--listen: ") {
		t.Errorf("%v", err)
	}
	other, err := listen(t.Context(), taken.Addr().String(), false)
	if err != nil {
		t.Fatal(err)
	}
	_ = other.Close()
}

func TestThePageIsForThisMachineAlone(t *testing.T) {
	for text, good := range map[string]bool{"127.0.0.1:0": true, "127.0.0.2:80": true, "localhost:80": true, "[::1]:80": true, ":80": false, "0.0.0.0:80": false,
		"[::]:80": false, "10.0.0.1:80": false, "example.com:80": false, "": false, "127.0.0.1": false, "127.0.0.1:x": false} {
		if _, err := loopback(text); (err == nil) != good {
			t.Errorf("%q: %v", text, err)
		}
	}
}
