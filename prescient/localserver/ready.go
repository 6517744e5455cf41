package localserver

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prescient/prescient/localserver/internal/process"
)

// errPortTaken is returned when somebody else listens on the server's port.
var errPortTaken = errors.New("the port is taken")

// readyPause is the time between two looks whether the server answers.
const readyPause = 20 * time.Millisecond

// A starting server was started and may not answer yet.
type starting struct {
	account account
	process *process.Process
}

// ready waits until the server answers to its password, which nobody else's
// server does, and returns its version.
func (s starting) ready(ctx context.Context) (string, error) {
	db, err := s.account.open()
	if err != nil {
		return "", err
	}
	defer db.Close()

	var answer error
	for {
		var version string
		if answer = db.QueryRowContext(ctx, "SELECT VERSION()").Scan(&version); answer == nil {
			return version, nil
		}
		select {
		case <-s.process.Exited():
			if s.process.Logged("Address already in use", "Do you already have another") {
				return "", errPortTaken
			}
			return "", fmt.Errorf("the server ended (%v) before it answered%s", s.process.Err(), s.process.LogTail())
		case <-ctx.Done():
			return "", fmt.Errorf("waiting for the server: %w (last answer: %v)%s", ctx.Err(), answer, s.process.LogTail())
		case <-time.After(readyPause):
		}
	}
}

// joined executes the statements that let a server join its cluster, and asks
// a question again and again until the answer is 1.
func (s starting) joined(ctx context.Context, question string, before ...string) error {
	db, err := s.account.open()
	if err != nil {
		return err
	}
	defer db.Close()
	for _, statement := range before {
		if _, err := db.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w%s", statement, err, s.process.LogTail())
		}
	}
	for {
		var yes bool
		err := db.QueryRowContext(ctx, question).Scan(&yes)
		if yes && err == nil {
			return nil
		}
		select {
		case <-s.process.Exited():
			return fmt.Errorf("the server ended (%v) before it joined the cluster%s", s.process.Err(), s.process.LogTail())
		case <-ctx.Done():
			return fmt.Errorf("waiting until the node has joined the cluster: %w (last answer: %v, %v)%s", ctx.Err(), yes, err, s.process.LogTail())
		case <-time.After(readyPause):
		}
	}
}
