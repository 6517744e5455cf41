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
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
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
			n, err := store.Affected(ctx, db, c.tables.Fill("client/renew", "{job_exec}", literal.Of(literal.AppendText, to.JobExec), "{new_key}", literal.Of(literal.AppendKey, key),
				"{payload}", literal.Of(literal.AppendJSON, string(to.Payload)), "{expires_at}", literal.Of(literal.AppendMicroOrNull, prescient.ExpiresAt(job.DueAt, to.ExpiresAfter)),
				"{slot}", literal.Of(literal.AppendSecond, job.NextCheckAt), "{key}", literal.Of(literal.AppendKey, job.Key()), "{revision}", literal.Of(literal.AppendUint, job.Revision)))
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
