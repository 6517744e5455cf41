package agent

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// ExecKnownFor is how long after a worker has told of a job_exec it counts as one that is there: it tells once an hour.
const ExecKnownFor = 70 * time.Minute

// MaxExecs is the most job_execs that a page has.
const MaxExecs = 10_000

// Exec is a job_exec as a worker has told of it. Times are UTC.
type Exec struct {
	JobExec string `json:"job_exec"`
	// Fingerprint is that of form and guards: two of one job_exec that are there at once are two versions of a program at work.
	Fingerprint string `json:"fingerprint" doc:"That of form and guards: two of one job_exec that are there at once are two versions of a program at work."`
	// Form is func, batch, tx or tx_batch.
	Form string `json:"form" doc:"What kind of function it is: func, batch, tx or tx_batch."`
	// Guards are as JSON, with durations in milliseconds.
	Guards json.RawMessage `json:"guards" doc:"What it lets its checks do; durations are in milliseconds."`
	// Worker was the last to tell of it.
	Worker  string    `json:"worker" doc:"The last worker that told of it."`
	FirstAt time.Time `json:"first_at" doc:"When a worker told of it first."`
	SeenAt  time.Time `json:"seen_at" doc:"When a worker told of it last; workers do that once an hour."`
	// There says that it was told of lately enough to be there now.
	There bool `json:"there" doc:"It was told of lately enough to be there now."`
}

// Cursor names its place in a list.
func (e Exec) Cursor() string { return e.JobExec + "/" + e.Fingerprint }

// Execs lists the job_execs that workers have told of, or one of them, by name. It goes on behind a cursor. The error wraps
// prescient.ErrInvalid for a name, a cursor or a limit that is none.
func Execs(ctx context.Context, db prescient.DB, tables *store.Tables, jobExec, after string, limit int) ([]Exec, error) {
	if limit < 1 || limit > MaxExecs {
		return nil, fmt.Errorf("%w: limit %d: 1 to %d are allowed", prescient.ErrInvalid, limit, MaxExecs)
	}
	bounds, err := execBounds(jobExec, after)
	if err != nil {
		return nil, err
	}
	return store.Rows(ctx, db, "reading which job_execs are known", tables.Fill("agent/execs", "{bounds}", bounds, "{limit}", strconv.Itoa(limit)), func(e *Exec) []any {
		return []any{&e.JobExec, &e.Fingerprint, &e.Form, &e.Guards, &e.Worker, &e.FirstAt, &e.SeenAt, &e.There}
	}, int64(ExecKnownFor.Seconds()))
}

func execBounds(jobExec, after string) (string, error) {
	if jobExec != "" {
		if err := prescient.ValidIdentifier("job_exec", jobExec); err != nil {
			return "", err
		}
	}
	is := literal.Of(literal.AppendText, jobExec)
	switch at := strings.LastIndexByte(after, '/'); {
	case after == "" && jobExec == "":
		return "1 = 1", nil
	case after == "":
		return "job_exec = " + is, nil
	default:
		name, digits := after[:max(at, 0)], after[at+1:]
		fingerprint, err := hex.DecodeString(digits)
		if err != nil || len(fingerprint) != 8 || prescient.ValidIdentifier("job_exec", name) != nil || jobExec != "" && jobExec != name {
			return "", fmt.Errorf("%w: cursor %.100q is no cursor; give that of the last row of the page before", prescient.ErrInvalid, after)
		}
		if jobExec != "" {
			return fmt.Sprintf("job_exec = %s AND fingerprint > X'%s'", is, digits), nil
		}
		return fmt.Sprintf("job_exec >= %[1]s AND (job_exec > %[1]s OR fingerprint > X'%[2]s')", literal.Of(literal.AppendText, name), digits), nil
	}
}
