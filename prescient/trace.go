package prescient

import (
	"context"
	"fmt"
	"strings"
)

// traceKey is the key of a context's traceparent.
type traceKey struct{}

// InTrace says in which trace what is done with a context is: by a traceparent, as the header of that name in W3C Trace Context
// (https://www.w3.org/TR/trace-context/). What is inserted with it has it in its row, and calls over HTTP and of commands are told of it.
// What is no traceparent changes nothing. Package otel has this done for each call.
func InTrace(ctx context.Context, traceparent string) context.Context {
	if !ValidTrace(traceparent) {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, traceparent)
}

// TraceOf is in which trace a context is; empty for none.
func TraceOf(ctx context.Context) string {
	traceparent, _ := ctx.Value(traceKey{}).(string)
	return traceparent
}

// Traces is called before checks or events are written, and says in which trace that is, as a traceparent, and what is called with what came
// of it.
type Traces[T any] func(ctx context.Context, all []T) (traceparent string, end func(error))

// Begin calls t, or takes the trace of the context where there is none. What is no traceparent is no trace: nothing fails for it.
func (t Traces[T]) Begin(ctx context.Context, all ...T) (traceparent string, end func(error)) {
	if t == nil {
		return TraceOf(ctx), func(error) {}
	}
	if traceparent, end = t(ctx, all); !ValidTrace(traceparent) {
		traceparent = ""
	}
	return traceparent, end
}

// CheckTrace returns an error that wraps ErrInvalid where a text is neither empty nor a traceparent. of says whose trace it is.
func CheckTrace(text, of string) error {
	if text == "" || ValidTrace(text) {
		return nil
	}
	return fmt.Errorf("%w: trace %.80q of %s: a traceparent of W3C Trace Context is allowed, such as 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", ErrInvalid, text, of)
}

// ValidTrace says whether a text is a traceparent, of version 00, which is all that there is. No trace, and no span, has zeros alone for its id.
// Whoever reads one from a row asks, since plain SQL may write any: it goes into headers and into the environments of programs.
func ValidTrace(text string) bool {
	if len(text) != len("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01") || text[:3] != "00-" || text[35] != '-' || text[52] != '-' {
		return false
	}
	for _, number := range []string{text[3:35], text[36:52], text[53:]} {
		if strings.Trim(number, "0123456789abcdef") != "" {
			return false
		}
	}
	return strings.Trim(text[3:35], "0") != "" && strings.Trim(text[36:52], "0") != ""
}
