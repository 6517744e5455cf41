package input

import (
	"context"
	"errors"
	"io"
)

// Stdin is the name that stands for stdin.
const Stdin = "-"

// Called is what a file is called in messages.
func Called(name string) string {
	if name == Stdin {
		return "stdin"
	}
	return name
}

// From opens a file, or with - takes stdin, which stays open. ctx ends the opening, and each read.
func From(ctx context.Context, name string, stdin io.Reader) (io.ReadCloser, error) {
	if name == Stdin {
		return interruptibleFile{Interruptible(ctx, stdin), io.NopCloser(nil)}, nil
	}
	file, err := Open(ctx, name)
	if err != nil {
		return nil, err
	}
	return interruptibleFile{Interruptible(ctx, file), file}, nil
}

// ReadAll reads a file, or with - stdin, to its end, or to a byte behind what may be in it: so that whoever says how much that is can refuse it.
func ReadAll(ctx context.Context, name string, stdin io.Reader, most int64) ([]byte, error) {
	from, err := From(ctx, name, stdin)
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(io.LimitReader(from, most+1))
	return content, errors.Join(err, from.Close())
}

// interruptibleFile reads as one and closes the other.
type interruptibleFile struct {
	io.Reader
	io.Closer
}
