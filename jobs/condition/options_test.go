package condition

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/event"
)

func TestTheNextTimeCountsFromTheOneThatWasAskedFor(t *testing.T) {
	const hour = time.Hour
	due, slot := time.Date(2026, 3, 1, 13, 5, 0, 0, time.UTC), time.Date(2026, 3, 1, 13, 15, 0, 0, time.UTC)
	for _, c := range []struct {
		name  string
		again []time.Duration
		every time.Duration
		count int
		want  time.Time
	}{
		{"the first action is the last", nil, 0, 0, time.Time{}},
		{"the first of a list", []time.Duration{hour, 4 * hour}, 0, 0, due.Add(hour)},
		{"the second of a list", []time.Duration{hour, 4 * hour}, 0, 1, due.Add(4 * hour)},
		{"the list is over", []time.Duration{hour, 4 * hour}, 0, 2, time.Time{}},
		{"the list is over, and goes on", []time.Duration{hour}, 24 * hour, 1, due.Add(24 * hour)},
		{"no list, and goes on", nil, 24 * hour, 7, due.Add(24 * hour)},
		{"sooner than the next slot: the next slot", []time.Duration{time.Minute}, 0, 0, slot.Add(time.Microsecond)},
	} {
		next := (&Options{Again: c.again, Every: c.every}).next(prescient.FutureJob{DueAt: due, NextCheckAt: slot, CheckCount: c.count})
		if (next == nil) != c.want.IsZero() || next != nil && !next.Equal(c.want) {
			t.Errorf("%s: %v; want %v", c.name, next, c.want)
		}
	}
}

func TestALaterEventHasALaterTopic(t *testing.T) {
	o := &Options{Topics: []string{"late", "lost"}}
	for count, want := range []string{"late", "lost", "lost"} {
		if got := o.topic(prescient.FutureJob{CheckCount: count}); got != want {
			t.Errorf("after %d times: %s; want %s", count, got, want)
		}
	}
}

func TestOptionsThatCannotBeAreRefused(t *testing.T) {
	db := new(sqlx.DB)
	call := func(context.Context, prescient.FutureJob) (*time.Time, error) { return nil, nil }
	good := Options{Read: db, Table: "orders", Column: "id", Key: Int, While: "a = 1", Topics: []string{"t"}, Events: new(event.Outbox)}
	if _, err := New(good); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(o *Options){
		"Table":                    func(o *Options) { o.Table = "a;b" },
		"Column":                   func(o *Options) { o.Column = "" },
		"While":                    func(o *Options) { o.While = "a) OR (b" },
		"Set":                      func(o *Options) { o.Set = "a = 1 WHERE b"; o.Write = db },
		"Set needs Write":          func(o *Options) { o.Set = "a = 1" },
		"topic":                    func(o *Options) { o.Topics = []string{"no topic"} },
		"Topics need Events":       func(o *Options) { o.Events = nil },
		"nothing is to be done":    func(o *Options) { o.Topics = nil },
		"Call is not allowed":      func(o *Options) { o.Call = call },
		"Key \"number\"":           func(o *Options) { o.Key = "number" },
		"Read is missing":          func(o *Options) { o.Read = nil },
		"only positive times":      func(o *Options) { o.Again = []time.Duration{0} },
		"Timeout -1s: must not be": func(o *Options) { o.Timeout = -time.Second },
	} {
		o := good
		change(&o)
		if _, err := New(o); !errors.Is(err, prescient.ErrInvalid) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v; want %s", err, want)
		}
	}
}

func TestEachCallAnswersForItsCheck(t *testing.T) {
	o := Options{Read: new(sqlx.DB), Table: "t", Column: "id", Key: Int, While: "a = 1", Call: func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
		switch job.EntityKey {
		case "1":
			panic("a bug")
		case "2":
			return prescient.At(job.DueAt.Add(time.Hour)), nil
		}
		return nil, nil
	}}
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	batch := prescient.NewBatch(prescient.FutureJob{EntityKey: "1"}, prescient.FutureJob{EntityKey: "2"}, prescient.FutureJob{EntityKey: "3"})
	for i := range batch.Jobs() {
		c.call(t.Context(), batch, i)
	}
	if _, err := batch.Answer(0); !errors.Is(err, prescient.ErrPanic) {
		t.Errorf("after a panic: %v", err)
	}
	if next, err := batch.Answer(1); err != nil || next == nil {
		t.Errorf("a time that the receiver answered with: %v, %v", next, err)
	}
	if next, err := batch.Answer(2); err != nil || next != nil {
		t.Errorf("settled: %v, %v", next, err)
	}
}
