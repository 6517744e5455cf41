package prescient

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"
)

// Whatever its form, a call has the middleware around it, the first outermost, and is told with all its rows.
func TestMiddlewareIsAroundEveryForm(t *testing.T) {
	type key struct{}
	no, tx, jobs := Final(Retry(time.Hour)), new(sqlx.Tx), []FutureJob{{EntityKey: "1"}, {EntityKey: "2"}}
	var log []string
	says := func(name string) Middleware {
		return func(next func(context.Context, Call) error) func(context.Context, Call) error {
			return func(ctx context.Context, call Call) error {
				log = append(log, fmt.Sprintf("%s: %s as %s of %d, tx %t", name, call.JobExec, call.Form, len(call.Jobs), call.Tx == tx))
				err := next(context.WithValue(ctx, key{}, fmt.Sprint(ctx.Value(key{}), name)), call)
				log = append(log, fmt.Sprint(name, " ends: ", err))
				return errors.New("what a middleware returns is no answer")
			}
		}
	}
	called := func(ctx context.Context) { log = append(log, fmt.Sprint("called in ", ctx.Value(key{}))) }
	r := NewRegistry()
	r.Use(says("a"))
	for _, err := range []error{
		r.Register("each", func(ctx context.Context, _ FutureJob) (*time.Time, error) {
			called(ctx)
			return At(time.Unix(7, 0)), nil
		}, Guards{}),
		r.RegisterBatch("batch", func(ctx context.Context, b *Batch) error { called(ctx); b.Settle(0); b.Fail(1, no); return nil }, Guards{}),
		r.RegisterTx("tx", func(ctx context.Context, in *sqlx.Tx, _ FutureJob) (*time.Time, error) { called(ctx); return nil, no }, Guards{}),
		r.RegisterTxBatch("txs", func(ctx context.Context, in *sqlx.Tx, b *Batch) error { called(ctx); return no }, Guards{}),
		r.Register("timer", func(ctx context.Context, _ FutureJob) (*time.Time, error) { called(ctx); return nil, nil }, Guards{}),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	r.Use(says("b"))
	r.SetPart("timer")
	for _, test := range []struct {
		call func() error
		told string // of each middleware
		ends error
	}{
		{func() error {
			next, err := r.Handler("each").(Func)(t.Context(), jobs[0])
			if next == nil || next.Unix() != 7 {
				t.Errorf("the answer was %v", next)
			}
			return err
		}, "each as row of 1, tx false", nil},
		{func() error {
			b := NewBatch(jobs...)
			err := r.Handler("batch").(BatchFunc)(t.Context(), b)
			if _, first := b.Answer(0); first != nil {
				t.Error(first)
			}
			if _, second := b.Answer(1); second != no {
				t.Error(second)
			}
			return err
		}, "batch as batch of 2, tx false", nil},
		{func() error {
			_, err := r.Handler("tx").(TxFunc)(t.Context(), tx, jobs[0])
			return err
		}, "tx as tx of 1, tx true", no},
		{func() error { return r.Handler("txs").(TxBatchFunc)(t.Context(), tx, NewBatch(jobs...)) }, "txs as tx batch of 2, tx true", no},
	} {
		log = nil
		if err := test.call(); err != test.ends {
			t.Errorf("%s: %v; want %v", test.told, err, test.ends)
		}
		want := []string{"a: " + test.told, "b: " + test.told, "called in <nil>ab", fmt.Sprint("b ends: ", test.ends), "a ends: what a middleware returns is no answer"}
		if strings.Join(log, "\n") != strings.Join(want, "\n") {
			t.Errorf("%q\nwant %q", log, want)
		}
	}
	log = nil
	if _, err := r.Handler("timer").(Func)(t.Context(), jobs[0]); err != nil || len(log) != 1 {
		t.Errorf("around a part of the library: %q, %v", log, err)
	}
}

// A middleware cannot answer: what it does in place of a call is an error of the call.
func TestMiddlewareThatMakesNoCallIsAnError(t *testing.T) {
	no := errors.New("no")
	for _, test := range []struct {
		name  string
		does  func(next func(context.Context, Call) error) error
		panic bool
		says  string
		calls int
	}{
		{name: "it calls", does: func(next func(context.Context, Call) error) error { return next(t.Context(), Call{}) }, calls: 1},
		{name: "it calls and fails", does: func(next func(context.Context, Call) error) error { _ = next(t.Context(), Call{}); return no }, calls: 1},
		{name: "it says why not", does: func(func(context.Context, Call) error) error { return no }, says: "no"},
		{name: "it says nothing", does: func(func(context.Context, Call) error) error { return nil }, says: "a middleware did not call its job_exec"},
		{name: "it calls twice", does: func(next func(context.Context, Call) error) error {
			_ = next(t.Context(), Call{})
			if err := next(t.Context(), Call{}); !errors.Is(err, ErrInvalid) {
				t.Error(err)
			}
			return nil
		}, calls: 1},
		{name: "it keeps a panic", panic: true, does: func(next func(context.Context, Call) error) error {
			defer func() { _ = recover() }()
			return next(t.Context(), Call{})
		}, says: "panicked, and a middleware kept that to itself", calls: 1},
	} {
		r, calls := NewRegistry(), 0
		r.Use(func(next func(context.Context, Call) error) func(context.Context, Call) error {
			return func(context.Context, Call) error { return test.does(next) }
		})
		r.MustRegister("x", func(context.Context, FutureJob) (*time.Time, error) {
			if calls++; test.panic {
				panic("boo")
			}
			return nil, nil
		}, Guards{})
		_, err := r.Handler("x").(Func)(t.Context(), FutureJob{})
		if calls != test.calls || (err == nil) != (test.says == "") || err != nil && !strings.HasPrefix(err.Error(), test.says) {
			t.Errorf("%s: %d calls, %v", test.name, calls, err)
		}
	}
}
