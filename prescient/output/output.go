package output

import (
	"context"
	"io"
)

type key struct{}

// With returns a context whose output goes to a writer, which must bear being written to by several goroutines at once.
func With(ctx context.Context, to io.Writer) context.Context {
	return context.WithValue(ctx, key{}, to)
}

// Of returns where output of a context goes; io.Discard where nobody keeps it. What is written once the call is over is lost.
func Of(ctx context.Context) io.Writer {
	if to, is := ctx.Value(key{}).(io.Writer); is {
		return to
	}
	return io.Discard
}
