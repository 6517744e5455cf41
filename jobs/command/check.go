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

// Exit codes of commands that say more than that something went wrong, as those of sysexits.h are meant.
const (
	// exitFinal, EX_DATAERR, is an error that no other try would mend.
	exitFinal = 65
	// exitRetry, EX_UNAVAILABLE, is an error after which it is to be run again at the time that the last line of its output says.
	exitRetry = 69
	// ExitAgain, EX_TEMPFAIL, is that of a command that wants to be run again at that time.
	ExitAgain = 75
)

// Exited is in the error of a program that ended by itself, with an exit code other than 0.
type Exited struct {
	// Code is -1 where a signal ended it.
	Code int
	text string
}

func (e *Exited) Error() string { return e.text }

// Check runs the program and returns the time that it answered with, in UTC, or nil when it says that the matter is settled. It is a
// prescient.Func. The error says what went wrong, and has the end of what the program wrote to stderr, or else to stdout. It wraps
// prescient.ErrTimeout where the command's Timeout was over, and the cause of the context's end where that came first; it is
// prescient.Final after the exit code 65, and has the prescient.Retry of 69. Once it returns, no process of the call is left but those that
// it names.
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
	if ended.held != "" {
		c.options.Log.Warn().Str("job_exec", job.JobExec).Stringer("entity", job.Entity()).
			Msg(c.String() + ": when all that is known of it had ended, " + ended.held)
	}
	said := c.excerpt(ended.stderr)
	if said == "" {
		said = c.excerpt(ended.stdout)
	}
	now := answer.CalledAt(job, began).Add(took)
	switch code := ended.state.ExitCode(); {
	case ended.stopped != nil || len(ended.left) > 0:
		return nil, c.failure(c.why(ended), said)
	case code == 0:
		return nil, nil
	case code == ExitAgain:
		next, err := again(code, ended.stdout, now)
		if err != nil {
			return nil, c.failure(err, "")
		}
		return next, nil
	case code == exitRetry:
		next, err := again(code, ended.stdout, now)
		if err == nil {
			err = fmt.Errorf("%w, %w", c.why(ended), prescient.Retry(next.Sub(now)))
		}
		return nil, c.failure(err, said)
	case code == exitFinal:
		return nil, c.failure(prescient.Final(c.why(ended)), said)
	}
	return nil, c.failure(c.why(ended), said)
}

// why is what was wrong with how a call ended.
func (c *Command) why(ended ending) (err error) {
	switch {
	case ended.stopped != nil:
		err = ended.stopped
	case ended.state != nil && ended.state.ExitCode() != 0:
		err = &Exited{ended.state.ExitCode(), howItEnded(ended.state, c.options.CPU)}
	}
	const named = 3
	var more []string
	if n := len(ended.left); n > 0 {
		more = append(more, fmt.Sprintf("%d of its processes could not be ended: %s", n, strings.Join(ended.left[:min(n, named)], "; ")))
	}
	if ended.held != "" {
		more = append(more, ended.held)
	}
	for _, text := range more {
		if err == nil {
			err = errors.New(text)
		} else {
			err = fmt.Errorf("%w; %s", err, text)
		}
	}
	return err
}

// again reads when a command is to be run again that exited with a code.
func again(code int, stdout string, now time.Time) (*time.Time, error) {
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
		return nil, fmt.Errorf("exited with %d, and the last line of stdout is no time to come again: %w", code, err)
	}
	return next, nil
}

// failure makes the one kind of error of a call: why, and what the program said.
func (c *Command) failure(cause error, said string) error {
	why := strings.ToValidUTF8(c.hide.Replace(cause.Error()), "") // it may quote what the program wrote
	text := c.String() + ": " + prescient.Shorten(why, maxExcerpt)
	if said != "" {
		text += ": " + said
	}
	return &answer.Missing{Text: text, Cause: cause}
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
