package input

import (
	"context"
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

// interruptibleFile reads as one and closes the other.
type interruptibleFile struct {
	io.Reader
	io.Closer
}
