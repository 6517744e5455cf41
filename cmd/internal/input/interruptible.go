// Package input reads what a command is given by files and pipes, for as long as it is not told to stop.
package input

import (
	"context"
	"io"
	"os"
)

// await calls do and returns what it does, or the error of ctx once that ends: for calls that know no context, such as
// the opening of a pipe, or a read from a terminal. What comes of the call after that goes to discard.
func await[T any](ctx context.Context, do func() (T, error), discard func(T)) (T, error) {
	type answer struct {
		value T
		err   error
	}
	answered := make(chan answer)
	go func() {
		value, err := do()
		select {
		case answered <- answer{value, err}:
		case <-ctx.Done():
			discard(value)
		}
	}()
	select {
	case a := <-answered:
		return a.value, a.err
	case <-ctx.Done():
		var none T
		return none, ctx.Err()
	}
}

// Open is os.Open. A pipe that nobody writes to holds it up only for as long as ctx lasts.
func Open(ctx context.Context, name string) (*os.File, error) {
	return await(ctx, func() (*os.File, error) { return os.Open(name) }, func(file *os.File) { _ = file.Close() })
}

// interruptible is a reader that ctx ends, also while it waits for input.
type interruptible struct {
	ctx  context.Context
	from io.Reader
	// buffer takes what is read: a read that was given up may still come to its end, and must not write into p then.
	buffer []byte
}

// Interruptible returns a reader that ctx ends, also while it waits for input.
func Interruptible(ctx context.Context, from io.Reader) io.Reader {
	return &interruptible{ctx: ctx, from: from, buffer: make([]byte, 64<<10)}
}

// Read implements io.Reader.
func (i *interruptible) Read(p []byte) (int, error) {
	if err := i.ctx.Err(); err != nil {
		return 0, err
	}
	part := i.buffer[:min(len(p), len(i.buffer))]
	n, err := await(i.ctx, func() (int, error) { return i.from.Read(part) }, func(int) {})
	return copy(p, part[:n]), err
}
