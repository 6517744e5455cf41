package otel_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/otel"
	"prescient/prescient/worker"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// recorder has the spans that ended.
type recorder struct {
	*testing.T
	exporter *tracetest.InMemoryExporter
	provider *sdk.TracerProvider
	tracing  *otel.Tracing
}

func newRecorder(t *testing.T) *recorder {
	t.Helper()
	exporter := tracetest.NewInMemoryExporter()
	provider := sdk.NewTracerProvider(sdk.WithSyncer(exporter))
	t.Cleanup(func() { _ = provider.Shutdown(context.WithoutCancel(t.Context())) })
	return &recorder{t, exporter, provider, otel.New(provider)}
}

// named are the spans of a name, in the order in which they ended.
func (r *recorder) named(name string) (list tracetest.SpanStubs) {
	for _, span := range r.exporter.GetSpans() {
		if span.Name == name {
			list = append(list, span)
		}
	}
	return list
}

func (r *recorder) one(name string) tracetest.SpanStub {
	r.Helper()
	list := r.named(name)
	if len(list) != 1 {
		r.Fatalf("%d spans are called %q", len(list), name)
	}
	return list[0]
}

func attribute(span tracetest.SpanStub, key string) string {
	for _, one := range span.Attributes {
		if string(one.Key) == key {
			return one.Value.String()
		}
	}
	return ""
}

// The trace of an insert travels with the row: each call is in a trace of its own, and linked to it, also after a move. What a call inserts is in
// the trace of the call.
func TestACallIsLinkedToItsInsert(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r, spans := whole.New(t, d, 15*time.Minute), newRecorder(t)
		c, err := client.New(t.Context(), r.App, client.Options{Prefix: "p_", Dialect: r.Setting, Trace: spans.tracing.Insert})
		r.Must(err)
		ctx, order := spans.provider.Tracer("app").Start(t.Context(), "order")
		job := prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: "check", DueAt: rig.At("11:00")}
		_, err = c.Insert(ctx, r.AppAt(rig.At("10:00")), job)
		r.Must(err)
		order.End()
		sent := spans.one("send check")
		if sent.Parent.SpanID() != order.SpanContext().SpanID() || sent.SpanKind != trace.SpanKindProducer || attribute(sent, "messaging.destination.name") != "check" {
			t.Errorf("%+v", sent)
		}

		var inCalls []string
		registry := prescient.NewRegistry()
		registry.Use(spans.tracing.Middleware)
		registry.MustRegister("check", func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
			inCalls = append(inCalls, prescient.TraceOf(ctx))
			if job.CheckCount == 0 {
				_, err := r.Client.Insert(ctx, r.AppAt(rig.At("11:00")), prescient.NewJob{Entity: job.Entity(), JobExec: "other", DueAt: rig.At("12:00")})
				return prescient.At(rig.At("11:30")), err
			}
			return nil, nil
		}, prescient.Guards{})
		for _, at := range []string{"11:00", "11:15", "11:30"} { // nothing is due at 11:15
			r.RunAt(rig.At(at), registry, worker.Options{Observer: spans.tracing.Worker()})
		}
		calls := spans.named("process check")
		if len(calls) != 2 || len(inCalls) != 2 {
			t.Fatalf("%d calls have %d spans", len(inCalls), len(calls))
		}
		for i, call := range calls {
			if call.Parent.IsValid() || call.SpanContext.TraceID() == sent.SpanContext.TraceID() || call.SpanKind != trace.SpanKindConsumer || call.Status.Code != codes.Unset {
				t.Errorf("%+v", call)
			}
			if len(call.Links) != 1 || call.Links[0].SpanContext.SpanID() != sent.SpanContext.SpanID() || call.Links[0].SpanContext.TraceID() != sent.SpanContext.TraceID() {
				t.Errorf("call %d is linked to %+v", i, call.Links)
			}
			if want := "00-" + call.SpanContext.TraceID().String() + "-" + call.SpanContext.SpanID().String() + "-01"; inCalls[i] != want {
				t.Errorf("call %d is in %s; want %s", i, inCalls[i], want)
			}
		}
		if is := traceOf(r, "1", "other"); is != inCalls[0] {
			t.Errorf("a call in %s has inserted a check in %q", inCalls[0], is)
		}
		if commits := spans.named("commit"); len(commits) != 2 || commits[0].Status.Code != codes.Unset || attribute(commits[0], "prescient.slot") != "2026-11-20T11:00:00Z" || !commits[0].EndTime.After(commits[0].StartTime) {
			t.Errorf("%+v", commits)
		}
		if runs := spans.named("slot run"); len(runs) != 2 || attribute(runs[0], "prescient.slot") != "2026-11-20T11:00:00Z" {
			t.Errorf("%+v", runs)
		}
	})
}

// A check that another takes the place of is in the trace of that, or in none; one that is kept stays in its own.
func TestACheckIsInTheTraceOfItsLatestInsert(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		r := whole.New(t, d, 15*time.Minute)
		first, second := "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b8-00"
		for _, step := range []struct {
			trace string
			how   prescient.OnPending
			want  string
		}{{first, prescient.Keep, first}, {second, prescient.Keep, first}, {second, prescient.Replace, second}, {"", prescient.Later, second}, {"", prescient.Replace, ""}, {first, prescient.Replace, first}} {
			job := prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "1"}, JobExec: "check", DueAt: rig.At("11:00"), OnPending: step.how}
			_, err := r.Client.Insert(prescient.InTrace(t.Context(), step.trace), r.AppAt(rig.At("10:00")), job)
			r.Must(err)
			if is := traceOf(r, "1", "check"); is != step.want {
				t.Errorf("after %s in %q it is in %q; want %q", step.how, step.trace, is, step.want)
			}
		}
		many := []prescient.NewJob{{Entity: prescient.Entity{Name: "order", Key: "2"}, JobExec: "many", DueAt: rig.At("11:00"), Trace: second},
			{Entity: prescient.Entity{Name: "order", Key: "3"}, JobExec: "more", DueAt: rig.At("11:00")}}
		_, err := r.Client.InsertMany(prescient.InTrace(t.Context(), first), r.AppAt(rig.At("10:00")), many)
		r.Must(err)
		if is := []string{traceOf(r, "2", "many"), traceOf(r, "3", "more")}; !slices.Equal(is, []string{second, first}) {
			t.Errorf("%q", is)
		}
	})
}

// Events are created in the trace of who publishes them; each sending of one is in a trace of its own, and linked to that.
func TestAnEventIsLinkedToWhereItCameFrom(t *testing.T) {
	spans := newRecorder(t)
	ctx, order := spans.provider.Tracer("app").Start(t.Context(), "order")
	traceparent, end := spans.tracing.Publish(ctx, []event.Event{{ID: "1", Topic: "orders"}, {ID: "2", Topic: "orders"}})
	end(nil)
	order.End()
	created := spans.one("create orders")
	if created.Parent.SpanID() != order.SpanContext().SpanID() || created.SpanKind != trace.SpanKindProducer || attribute(created, "messaging.batch.message_count") != "2" ||
		traceparent != "00-"+created.SpanContext.TraceID().String()+"-"+created.SpanContext.SpanID().String()+"-01" {
		t.Errorf("in %s: %+v", traceparent, created)
	}
	down := errors.New("the broker is down")
	for _, of := range []string{traceparent, ""} {
		spans.tracing.Publishing(broker.Message{ID: "1", Topic: "orders", Key: "order/42", Trace: of})(down)
	}
	sent := spans.named("send orders")
	if len(sent) != 2 || len(sent[0].Links) != 1 || sent[0].Links[0].SpanContext.SpanID() != created.SpanContext.SpanID() || len(sent[1].Links) != 0 {
		t.Fatalf("%+v", sent)
	}
	if sent[0].Parent.IsValid() || sent[0].SpanContext.TraceID() == created.SpanContext.TraceID() || sent[0].Status.Code != codes.Error || attribute(sent[0], "messaging.message.id") != "1" {
		t.Errorf("%+v", sent[0])
	}
	_, end = spans.tracing.Publish(t.Context(), []event.Event{{Topic: "a"}, {Topic: "b"}, {Topic: "a"}})
	end(nil)
	if several := spans.one("create to several"); attribute(several, "messaging.destination.name") != "" {
		t.Errorf("%+v", several)
	}
}

// What is written as a trace by plain SQL, and is none, is no fault: the call has no link. Nor is a batch of more than the links that a span has.
func TestATraceThatIsNoneLinksToNothing(t *testing.T) {
	spans := newRecorder(t)
	jobs := make([]prescient.FutureJob, 200)
	for i := range jobs {
		jobs[i].Trace = []string{"", "x", "00-00000000000000000000000000000000-0000000000000000-00", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"}[i%4]
	}
	failed := errors.New("it fails")
	err := spans.tracing.Middleware(func(context.Context, prescient.Call) error { return failed })(t.Context(), prescient.Call{JobExec: "check", Form: prescient.InBatch, Jobs: jobs})
	if err != failed {
		t.Error(err)
	}
	span := spans.one("process check")
	if len(span.Links) != 32 || span.Status.Code != codes.Error || attribute(span, "messaging.batch.message_count") != "200" {
		t.Errorf("%d links, %+v", len(span.Links), span.Status)
	}
}

// However a call ends, its span ends as an error, whose text is UTF-8.
func TestACallThatFailsHasASpanThatSaysSo(t *testing.T) {
	spans := newRecorder(t)
	for name, test := range map[string]struct {
		do   func() error
		says string
	}{
		"panics":   {func() error { panic("no") }, "panicked"},
		"silent":   {func() error { return (*nilError)(nil) }, "panicked"},
		"no-utf-8": {func() error { return errors.New("no \xff such\x00") }, "no \ufffd such\ufffd"},
	} {
		func() {
			defer func() { _ = recover() }()
			_ = spans.tracing.Middleware(func(context.Context, prescient.Call) error { return test.do() })(t.Context(), prescient.Call{JobExec: name, Jobs: make([]prescient.FutureJob, 1)})
		}()
		if span := spans.one("process " + name); span.Status.Code != codes.Error || span.Status.Description != test.says {
			t.Errorf("%s: %+v", name, span.Status)
		}
	}
}

// nilError has a text only where it is not nil.
type nilError struct{ text string }

func (e *nilError) Error() string { return e.text }

// traceOf is in which trace the pending check of a job_exec is, as a client reads it.
func traceOf(r *whole.Rig, order, jobExec string) string {
	r.T.Helper()
	row, err := r.Client.Get(r.T.Context(), r.App, prescient.Entity{Name: "order", Key: order}, jobExec, "")
	r.Must(err)
	return row.Trace
}
