package prescient

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jmoiron/sqlx"
)

// AllExecs stands for every job_exec in Pause and Resume.
const AllExecs = "*"

// Paused is a pause that is in force. Times are UTC.
type Paused struct {
	// JobExec that is paused, or AllExecs.
	JobExec string    `db:"job_exec" json:"job_exec"`
	Since   time.Time `db:"since" json:"since"`
	// By and Reason are free text, by whoever paused it.
	By     string `db:"paused_by" json:"by"`
	Reason string `db:"reason" json:"reason"`
}

// Pause pauses a job_exec until Resume, from the next slot run on: workers read it with their look at the slot. What is
// due of it goes to the next slot, slot after slot, uncalled and otherwise as it was; each slot run moves all that has
// gathered, which for millions of rows takes a while.
//
// Pausing AllExecs stops all slot runs instead, and the sweeper: rows stay where they are, inserts and cancels go on.
// After Resume the sweeper runs what came due meanwhile, oldest first. RollForward works all the while.
//
// A call that has begun goes on. Pausing twice changes who did it and why. The error wraps ErrInvalid.
func (c *Client) Pause(ctx context.Context, db DB, p Paused) error {
	if p.JobExec != AllExecs {
		if err := validIdentifier("job_exec", p.JobExec); err != nil {
			return err
		}
	}
	if err := errors.Join(validText("by", p.By, 128), validText("reason", p.Reason, 1000)); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, c.fill("operate/pause", "{job_exec}", literal(appendText, p.JobExec),
		"{paused_by}", literal(appendText, p.By), "{reason}", literal(appendText, p.Reason)))
	if err != nil {
		return fmt.Errorf("pausing %s: %w", p.JobExec, err)
	}
	return nil
}

// Resume ends pauses and returns how many there were. That of AllExecs is one of its own: job_execs that were paused by
// their names stay so.
func (c *Client) Resume(ctx context.Context, db DB, jobExecs ...string) (resumed int, err error) {
	list := make([]string, 0, len(jobExecs))
	for _, name := range jobExecs {
		if name != AllExecs {
			if err := validIdentifier("job_exec", name); err != nil {
				return 0, err
			}
		}
		list = append(list, literal(appendText, name))
	}
	if len(list) == 0 {
		return 0, nil
	}
	resumed, err = affected(ctx, db, c.fill("operate/resume", "{job_execs}", strings.Join(list, ", ")))
	if err != nil {
		return 0, fmt.Errorf("resuming: %w", err)
	}
	return resumed, nil
}

// Pauses lists what is paused, on a pool made by Open.
func (c *Client) Pauses(ctx context.Context, db *sqlx.DB) ([]Paused, error) {
	list := []Paused{}
	if err := db.SelectContext(ctx, &list, c.stmt.Get("list/pauses")); err != nil {
		return nil, fmt.Errorf("listing what is paused: %w", err)
	}
	return list, nil
}

// pauses are the job_execs that are paused.
type pauses map[string]bool

// all says whether everything is.
func (p pauses) all() bool { return p[AllExecs] }

// readPauses reads the list that comes with a look at a slot; nil where nothing is paused.
func readPauses(list []byte) (pauses, error) {
	if len(list) == 0 {
		return nil, nil
	}
	var names []string
	if err := json.Unmarshal(list, &names); err != nil || !utf8.Valid(list) {
		return nil, fmt.Errorf("what is paused cannot be read: %.200q: %w", list, err)
	}
	p := make(pauses, len(names))
	for _, name := range names {
		p[name] = true
	}
	return p, nil
}

// errPaused ends a sweep once everything is paused; it never leaves the package.
var errPaused = errors.New("everything is paused")
