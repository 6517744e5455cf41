package delayq

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/worker"
)

// nowhere is a pool on which nobody answers.
func nowhere(t *testing.T) *sqlx.DB {
	t.Helper()
	db, err := connect.Open("u:p@tcp(127.0.0.1:1)/d", 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestOptionsThatAreRefused(t *testing.T) {
	db := nowhere(t)
	for want, options := range map[string]Options{
		`name of the queue "my mails"`: {Name: "my mails"},
		"name of the queue \"aaaa":     {Name: strings.Repeat("a", 65)},
		"guard timeout -1s":            {Timeout: -time.Second},
		"guard concurrency -1":         {Concurrency: -1},
		"use Register":                 {Worker: worker.Options{Registry: prescient.NewRegistry()}},
		`Prefix "q_"`:                  {Worker: worker.Options{Prefix: "q_"}},
		"Resolution 1s":                {Client: client.Options{Resolution: time.Minute}, Worker: worker.Options{Resolution: time.Second}},
		`Dialect "plain"`:              {Worker: worker.Options{Dialect: "plain"}},
	} {
		if _, err := New(t.Context(), db, options); !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v; want %q in it", options, err, want)
		}
	}
	if _, err := New(t.Context(), nil, Options{}); !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), "no pool") {
		t.Errorf("without a pool: %v", err)
	}
	if _, err := New(t.Context(), db, Options{}); err == nil || errors.Is(err, prescient.ErrInvalid) || !strings.HasPrefix(err.Error(), "delayq delayq: ") {
		t.Errorf("where nobody answers: %v", err)
	}
}

func TestAQueueNeverEndsByAGuardOfItsOwnOrOfTheWorker(t *testing.T) {
	q := &DelayQueue{options: Options{Name: "mails", Timeout: time.Minute}}
	registry := prescient.NewRegistry()
	if err := q.Register(registry, func([]byte) error { return nil }); err != nil {
		t.Fatal(err)
	}
	workers := prescient.Guards{MaxErrors: 1, ExpiresAfter: time.Second, RetryWithin: time.Hour, Horizon: time.Hour}.Or(prescient.DefaultGuards())
	got := registry.GuardsOf("mails", workers)
	if !got.Endless || got.RetryWithin != time.Minute || got.Timeout != time.Minute || got.Ahead() != prescient.MaxHorizon {
		t.Errorf("guards: %+v", got)
	}
	if err := q.Register(registry, func([]byte) error { return nil }); !errors.Is(err, prescient.ErrInvalid) {
		t.Errorf("registered twice: %v", err)
	}
}

func TestWithoutAHandleNothingIsRun(t *testing.T) {
	q := &DelayQueue{options: Options{Name: "mails"}}
	for what, err := range map[string]error{
		"Run":             q.Run(nil),
		"RunContext":      q.RunContext(t.Context(), nil),
		"Register":        q.Register(prescient.NewRegistry(), nil),
		"RegisterContext": q.RegisterContext(prescient.NewRegistry(), nil),
	} {
		if !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), "delayq mails: ") {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func TestWithoutTablesNewSaysSo(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		db, err := connect.Open(d.DSN, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		if _, err := New(t.Context(), db, Options{}); !errors.Is(err, prescient.ErrNotMigrated) {
			t.Error(err)
		}
	})
}
