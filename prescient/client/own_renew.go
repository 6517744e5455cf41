package client

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/client/internal/handle"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// Renewal is what a row of a room goes on with under another definition.
type Renewal struct {
	JobExec      string
	Payload      json.RawMessage
	ExpiresAfter time.Duration
}

// Renew has rows that are pending for keys of the room go on under another definition, in a transaction: those of which as says so. They
// keep their times and counts. What a slot run is about to commit of one of them, called before that, ends it as superseded instead. It
// returns the rows that as was asked about, as they were.
func (o Own) Renew(ctx context.Context, db prescient.DB, keys []string, as func(prescient.FutureJob) (Renewal, bool)) (met []prescient.FutureJob, err error) {
	for _, some := range o.chunks(keys) {
		part, err := o.client.renewSome(ctx, db, some, as)
		if err != nil {
			return nil, err
		}
		met = append(met, part...)
	}
	return met, nil
}

// renewSome renews rows of entities as endSome ends them.
func (c *Client) renewSome(ctx context.Context, db prescient.DB, entities []prescient.Entity, as func(prescient.FutureJob) (Renewal, bool)) ([]prescient.FutureJob, error) {
	met := make(map[prescient.Key]prescient.FutureJob)
	renewed := make(map[prescient.Key]bool) // by their keys from then on
	callers := handle.IsCallersTx(db)
	lock := false
	for range handle.MaxTries {
		found, err := c.findEntities(ctx, db, entities, func(job prescient.FutureJob) bool { return !renewed[job.Key()] }, lock)
		if err != nil {
			return nil, err
		}
		missed := false
		for _, job := range found {
			to, is := as(job)
			if !is {
				met[job.Key()] = job
				continue
			}
			key := prescient.KeyOf(job.Entity(), to.JobExec, job.Tag)
			n, err := c.renew(ctx, db, job, to, key)
			if err != nil {
				return nil, fmt.Errorf("renewing what is pending for %s: %w", job.Entity(), err)
			}
			if missed = missed || n == 0; n > 0 {
				met[job.Key()], renewed[key] = job, true
			}
		}
		// In the caller's transaction a plain read may not see the latest rows; a locking one does.
		if !missed && lock == callers {
			return slices.Collect(maps.Values(met)), nil
		}
		lock = callers
	}
	return nil, fmt.Errorf("renewing what is pending for %s: others changed the rows meanwhile, %d times", named(entities), handle.MaxTries)
}

// renew has a row go on under a key, if it still is as it was read.
func (c *Client) renew(ctx context.Context, db prescient.DB, job prescient.FutureJob, to Renewal, key prescient.Key) (n int, err error) {
	is := append(rowtext.Identity(job), "{job_exec}", literal.Of(literal.AppendText, to.JobExec), "{payload}", literal.Of(literal.AppendJSON, string(to.Payload)),
		"{expires_at}", literal.Of(literal.AppendMicroOrNull, prescient.ExpiresAt(job.DueAt, to.ExpiresAfter)))
	becomes := literal.Of(literal.AppendKey, key)
	switch {
	case key == job.Key():
		return store.Affected(ctx, db, c.tables.Fill("client/renew", append(is, "{job_key}", "")...))
	case c.tables.Server != text.Vitess:
		return store.Affected(ctx, db, c.tables.Fill("client/renew", append(is, "{job_key}", "job_key = "+becomes+", ")...))
	}
	if n, err = store.Affected(ctx, db, c.tables.Fill("client/renew_copy", append(is, "{new_key}", becomes)...)); err != nil || n == 0 {
		return n, err
	}
	return store.Affected(ctx, db, c.tables.Fill("client/delete", "{rows}", rowtext.AsRead(c.tables.Dialect, []prescient.FutureJob{job})))
}
