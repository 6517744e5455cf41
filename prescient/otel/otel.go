package otel

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"prescient/prescient"
	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/worker"
	"prescient/prescient/worker/books"
)

// mostLinks is to how many inserts the call of a batch is linked, at most: as many as the SDK keeps by default.
const mostLinks = 128

// Tracing makes spans. Their attributes are those of the conventions for messaging, version 1.37
// (https://opentelemetry.io/docs/specs/semconv/messaging/messaging-spans/): the destination is a job_exec, or a topic. It is for concurrent use.
type Tracing struct{ tracer trace.Tracer }

// New has spans made by a provider; nil takes the global one.
func New(provider trace.TracerProvider) *Tracing {
	if provider == nil {
		provider = otel.GetTracerProvider()
	}
	return &Tracing{provider.Tracer("prescient/prescient/otel")}
}

// Insert is for client.Options.Trace: a span of kind producer for an Insert or InsertMany, which the rows are in the trace of.
func (t *Tracing) Insert(ctx context.Context, jobs []prescient.NewJob) (traceparent string, end func(error)) {
	names := make([]string, len(jobs))
	for i := range jobs {
		names[i] = jobs[i].JobExec
	}
	return t.produce(ctx, "send", names)
}

// Publish is for event.Outbox.Traced: a span of kind producer for what is put into the outbox, which the events are in the trace of.
func (t *Tracing) Publish(ctx context.Context, events []event.Event) (traceparent string, end func(error)) {
	topics := make([]string, len(events))
	for i := range events {
		topics[i] = events[i].Topic
	}
	return t.produce(ctx, "create", topics)
}

// produce starts the span of messages to some destinations.
func (t *Tracing) produce(ctx context.Context, operation string, destinations []string) (traceparent string, end func(error)) {
	name := ""
	if all := slices.Compact(slices.Clone(destinations)); len(all) == 1 {
		name = all[0] // the names of several are left out
	}
	ctx, span := t.tracer.Start(ctx, spanName(operation, name), trace.WithSpanKind(trace.SpanKindProducer), trace.WithAttributes(attributes(operation, name, len(destinations))...))
	return traceparentOf(ctx), func(err error) { ended(span, err) }
}

// Publishing is for forward.Options.Observer: a span for each message that goes to its broker, in a trace of its own that is linked to the event's.
func (t *Tracing) Publishing(m broker.Message) (published func(error)) {
	var links []trace.Link
	if created := spanOf(m.Trace); created.IsValid() {
		links = append(links, trace.Link{SpanContext: created})
	}
	of := append(attributes("send", m.Topic, 1), attribute.String("messaging.message.id", m.ID), attribute.String("prescient.key", m.Key))
	_, span := t.tracer.Start(context.Background(), spanName("send", m.Topic), trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindProducer),
		trace.WithLinks(links...), trace.WithAttributes(of...))
	return func(err error) { ended(span, err) }
}

// Middleware is for Registry.Use: a span of kind consumer around each call, linked to the insert of its row; of a batch to those of the
// first 128 rows. The context of the call is in its trace, for prescient.TraceOf, too.
func (t *Tracing) Middleware(next func(context.Context, prescient.Call) error) func(context.Context, prescient.Call) error {
	return func(ctx context.Context, call prescient.Call) error {
		var links []trace.Link
		for _, job := range call.Jobs[:min(len(call.Jobs), mostLinks)] {
			if inserted := spanOf(job.Trace); inserted.IsValid() {
				links = append(links, trace.Link{SpanContext: inserted})
			}
		}
		of := append(attributes("process", call.JobExec, len(call.Jobs)), attribute.String("prescient.form", string(call.Form)))
		if len(call.Jobs) == 1 {
			of = append(of, ofRow(call.Jobs[0])...)
		}
		ctx, span := t.tracer.Start(ctx, spanName("process", call.JobExec), trace.WithNewRoot(), trace.WithSpanKind(trace.SpanKindConsumer),
			trace.WithLinks(links...), trace.WithAttributes(of...))
		returned := false
		defer func() {
			if !returned { // it panicked, also where its error was asked for its text, or ended its goroutine
				span.SetStatus(codes.Error, prescient.ErrPanic.Error())
				span.End()
			}
		}()
		err := next(prescient.InTrace(ctx, traceparentOf(ctx)), call)
		ended(span, err)
		returned = true
		return err
	}
}

// Worker is for worker.Options.Observer: a span for each slot run that met a check or failed, and for each commit of one, once it is over.
func (t *Tracing) Worker() *worker.Observer {
	return &worker.Observer{SlotRun: func(f books.Figures, err error) {
		if err == nil && f.Rows()+f.Locked+f.Stuck == 0 {
			return // slots of a second would have one each
		}
		now := time.Now()
		_, span := t.tracer.Start(context.Background(), "slot run", trace.WithNewRoot(), trace.WithTimestamp(now.Add(-f.Took)),
			trace.WithAttributes(attribute.String("prescient.slot", f.Slot.UTC().Format(time.RFC3339)), attribute.Int("prescient.buckets", f.Buckets),
				attribute.Int64("prescient.lateness_ms", f.Lateness.Milliseconds()), attribute.Int("prescient.retries", f.Retries)))
		ended(span, err, trace.WithTimestamp(now))
	}, Committed: func(c worker.Commit) {
		_, span := t.tracer.Start(context.Background(), "commit", trace.WithNewRoot(), trace.WithTimestamp(c.Began),
			trace.WithAttributes(attribute.String("prescient.slot", c.Slot.UTC().Format(time.RFC3339)), attribute.Int("prescient.bucket", c.Bucket)))
		ended(span, c.Err, trace.WithTimestamp(c.Began.Add(c.Took)))
	}}
}

// attributes are those that spans of messages have: of inserts, calls and events.
func attributes(operation, destination string, rows int) []attribute.KeyValue {
	list := []attribute.KeyValue{attribute.String("messaging.system", "prescient"), attribute.String("messaging.operation.name", operation),
		attribute.String("messaging.operation.type", operation)}
	if destination != "" {
		list = append(list, attribute.String("messaging.destination.name", destination))
	}
	if rows > 1 {
		list = append(list, attribute.Int("messaging.batch.message_count", rows))
	}
	return list
}

// ofRow are the attributes of the call of one row.
func ofRow(job prescient.FutureJob) []attribute.KeyValue {
	list := []attribute.KeyValue{attribute.String("messaging.message.id", job.Key().String()), attribute.String("prescient.entity", job.Entity().String()),
		attribute.String("prescient.slot", job.NextCheckAt.UTC().Format(time.RFC3339)), attribute.Int("prescient.check_count", job.CheckCount)}
	if job.Tag != "" {
		list = append(list, attribute.String("prescient.tag", job.Tag))
	}
	return list
}

func spanName(operation, destination string) string {
	return operation + " " + cmp.Or(destination, "to several")
}

// ended ends a span with what came of it. Exporters drop all that they were to send with a text that is not UTF-8.
func ended(span trace.Span, err error, options ...trace.SpanEndOption) {
	if err != nil {
		text := prescient.ReasonText(err)
		span.AddEvent("exception", trace.WithAttributes(attribute.String("exception.type", fmt.Sprintf("%T", err)), attribute.String("exception.message", text)))
		span.SetStatus(codes.Error, text)
	}
	span.End(options...)
}

// traceparentOf is the traceparent of a context's span; empty for none.
func traceparentOf(ctx context.Context) string {
	carrier := make(propagation.MapCarrier, 1)
	propagation.TraceContext{}.Inject(ctx, carrier)
	return carrier.Get("traceparent")
}

// spanOf is the span that a traceparent names.
func spanOf(traceparent string) trace.SpanContext {
	if traceparent == "" {
		return trace.SpanContext{}
	}
	return trace.SpanContextFromContext(propagation.TraceContext{}.Extract(context.Background(), propagation.MapCarrier{"traceparent": traceparent}))
}
