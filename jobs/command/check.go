package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode"

	"prescient/jobs/answer"
	"prescient/prescient"
)

// exitAgain is the exit code of a command that wants to be run again, at the time that the last line of its output says: that of a
// temporary failure, EX_TEMPFAIL of sysexits.h.
const exitAgain = 75

// Check runs the program and returns the time that it answered with, in UTC, or nil when it says that the matter is settled. It is a
// prescient.Func. The error says what went wrong, and has the end of what the program wrote to stderr, or else to stdout. It wraps
// prescient.ErrTimeout where the command's Timeout was over, and the cause of the context's end where that came first. Once it
// returns, no process of the call is left.
func (c *Command) Check(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
	if err := ctx.Err(); err != nil {
		return nil, c.failure(context.Cause(ctx), "")
	}
	ctx, over, err := c.begin(ctx)
	if err != nil {
		return nil, c.failure(err, "")
	}
	defer over()
	began := time.Now()
	ended, err := c.run(ctx, job)
	if err != nil {
		return nil, c.failure(err, "")
	}
	took := time.Since(began)
	if e := c.options.Log.Debug(); e.Enabled() {
		e.Str("job_exec", job.JobExec).Stringer("entity", job.Entity()).Dur("took", took).Stringer("ended", ended.state).
			Str("stderr", c.excerpt(ended.stderr)).Str("stdout", c.excerpt(ended.stdout)).Msg(c.String())
	}
	said := c.excerpt(ended.stderr)
	if said == "" {
		said = c.excerpt(ended.stdout)
	}
	switch code := ended.state.ExitCode(); {
	case ended.stopped != nil:
		return nil, c.failure(ended.stopped, said)
	case ended.left > 0:
		return nil, c.failure(fmt.Errorf("%d of its processes could not be ended", ended.left), said)
	case code == exitAgain:
		return c.again(ended.stdout, answer.CalledAt(job, began).Add(took))
	case code != 0:
		return nil, c.failure(errors.New(howItEnded(ended.state, c.options.CPU)), said)
	}
	return nil, nil
}

// again reads the answer of a command that wants to be run again.
func (c *Command) again(stdout string, now time.Time) (*time.Time, error) {
	last := strings.TrimRight(stdout, " \t\r\n")
	last = last[strings.LastIndexByte(last, '\n')+1:]
	next, err := answer.Parse([]byte(last), now)
	switch {
	case errors.Is(err, answer.ErrEmpty):
		err = errors.New("wrote nothing to stdout")
	case err == nil && next == nil:
		err = errors.New("wrote null: want 0 when the matter is settled")
	}
	if err != nil {
		return nil, c.failure(fmt.Errorf("exited with %d, and the last line of stdout is no time to come again: %w", exitAgain, err), "")
	}
	return next, nil
}

// A callError is why there is no answer, fit for a log and for last_error.
type callError struct {
	text  string
	cause error
}

func (c *callError) Error() string { return c.text }
func (c *callError) Unwrap() error { return c.cause }

// failure makes the one kind of error of a call: why, and what the program said.
func (c *Command) failure(cause error, said string) error {
	text := c.String() + ": " + c.hide.Replace(cause.Error())
	if said != "" {
		text += ": " + said
	}
	return &callError{text: text, cause: cause}
}

// maxExcerpt is how much of an output stands in an error, in bytes.
const maxExcerpt = 600

// excerpt returns the end of an output, in whole lines where it has some, without what is hidden and what cannot be printed.
func (c *Command) excerpt(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) || r == '\n' || r == '\t' {
			return r
		}
		return -1
	}, c.hide.Replace(text))
	text = strings.TrimSpace(text)
	if len(text) <= maxExcerpt {
		return text
	}
	text = text[len(text)-maxExcerpt:]
	if _, rest, found := strings.Cut(text, "\n"); found && strings.TrimSpace(rest) != "" {
		text = rest
	}
	return "…" + strings.ToValidUTF8(text, "")
}
