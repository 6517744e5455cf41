package client

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/client/internal/handle"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
)

// cancelEntities is how many entities are looked for together, and cancelRows how many rows are cancelled together.
const cancelEntities, cancelRows = 200, 500

// CancelMany is Cancel for many entities: all of it or, with an error, nothing. On a handle that is no transaction it takes one of
// its own. An entity that stands twice counts once.
//
// The statements that it takes grow by the hundreds of entities, not with each.
func (c *Client) CancelMany(ctx context.Context, db prescient.DB, entities []prescient.Entity, jobExecs ...string) (cancelled int, err error) {
	for i, e := range entities {
		if err := errors.Join(e.Validate(), reserved.Refuse(e)); err != nil {
			return 0, fmt.Errorf("entity %d: %w", i+1, err)
		}
	}
	if err := validJobExecs(jobExecs); err != nil {
		return 0, err
	}
	if len(entities) == 0 {
		return 0, nil
	}
	return c.cancelByStatements(ctx, db, entities, jobExecs)
}

// cancelByStatements does what the procedure does, for some entities.
func (c *Client) cancelByStatements(ctx context.Context, db prescient.DB, entities []prescient.Entity, jobExecs []string) (cancelled int, err error) {
	named := func(job prescient.FutureJob) bool {
		return len(jobExecs) == 0 || slices.Contains(jobExecs, job.JobExec)
	}
	by := audit.Of(ctx)
	err = handle.InTx(ctx, c.tables.Server, db, func(db prescient.DB) error {
		cancelled = 0
		as := ending{outcome: prescient.Cancelled, ends: named}
		var gone []prescient.FutureJob
		if by.Operator {
			as.each = func(job prescient.FutureJob) { gone = append(gone, job) }
		}
		for _, some := range entityChunks(entities) {
			n, _, err := c.endSome(ctx, db, some, as)
			if err != nil {
				return err
			}
			cancelled += n
		}
		return c.recordCancelled(ctx, db, gone)
	})
	if err != nil {
		return 0, err
	}
	return cancelled, nil
}

// entityChunks are entities in the order of their keys, each once, as many together as are looked for together.
func entityChunks(entities []prescient.Entity) [][]prescient.Entity {
	order := byKey(len(entities), func(i int) prescient.Key { return prescient.KeyOf(entities[i], "", "") })
	sorted := make([]prescient.Entity, len(order))
	for i, from := range order {
		sorted[i] = entities[from]
	}
	return slices.Collect(slices.Chunk(slices.Compact(sorted), cancelEntities))
}

// ending is how rows are ended.
type ending struct {
	outcome prescient.Outcome
	ends    func(prescient.FutureJob) bool // says which are
	// each, where given, is called with every row that was ended. Then each goes by a statement of its own.
	each func(prescient.FutureJob)
}

// endSome ends rows of entities that are in the order of their keys. It says how many, and returns the rows that it met, as it met
// them last.
func (c *Client) endSome(ctx context.Context, db prescient.DB, entities []prescient.Entity, as ending) (ended int, met map[prescient.Key]prescient.FutureJob, err error) {
	met = make(map[prescient.Key]prescient.FutureJob)
	callers := handle.IsCallersTx(db)
	lock := false
	for range handle.MaxTries {
		found, err := c.findEntities(ctx, db, entities, as.ends, lock)
		if err != nil {
			return 0, nil, err
		}
		for _, job := range found {
			met[job.Key()] = job
		}
		missed, together := false, cancelRows
		if as.each != nil {
			together = 1
		}
		for rows := range slices.Chunk(found, together) {
			n, err := c.endFound(ctx, db, rows, as.outcome)
			if err != nil {
				return 0, nil, fmt.Errorf("ending what is pending for %s: %w", named(entities), err)
			}
			if ended += n; n > 0 && as.each != nil {
				as.each(rows[0])
			}
			missed = missed || n < len(rows)
		}
		// In the caller's transaction a plain read may not see the latest rows; a locking one does.
		if !missed && lock == callers {
			return ended, met, nil
		}
		lock = callers
	}
	return 0, nil, fmt.Errorf("ending what is pending for %s: others changed the rows meanwhile, %d times", named(entities), handle.MaxTries)
}

// named names entities in an error.
func named(entities []prescient.Entity) string {
	if len(entities) == 1 {
		return entities[0].String()
	}
	return fmt.Sprintf("%s and %d more", entities[0], len(entities)-1)
}

// findEntities reads what is pending for entities, of which ends says which is wanted. The rows of each are neighbours in the unique key.
func (c *Client) findEntities(ctx context.Context, db prescient.DB, entities []prescient.Entity, ends func(prescient.FutureJob) bool, lock bool) (found []prescient.FutureJob, err error) {
	if lock {
		found, err = c.findBetweenBookends(ctx, db, entities)
	} else {
		found, err = c.find(ctx, db, rowtext.BareColumns, rowtext.Between(entities), false)
	}
	asked := make(map[prescient.Entity]bool, len(entities))
	for _, e := range entities {
		asked[e] = true
	}
	return slices.DeleteFunc(found, func(job prescient.FutureJob) bool { return !asked[job.Entity()] || !ends(job) }), err
}

// endFound ends those rows that are still as they were read, and says how many. The server copies them into history: a payload need
// not travel, whatever its size.
func (c *Client) endFound(ctx context.Context, db prescient.DB, found []prescient.FutureJob, outcome prescient.Outcome) (ended int, err error) {
	rows := rowtext.AsRead(c.tables.Dialect, found)
	n, err := store.Affected(ctx, db, c.tables.Fill("client/cancel_copy", "{rows}", rows, "{outcome}", literal.Of(literal.AppendText, string(outcome))))
	if err != nil || n == 0 {
		return 0, err
	}
	_, err = db.ExecContext(ctx, c.tables.Fill("client/delete", "{rows}", rows))
	return n, err
}
