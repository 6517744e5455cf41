package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/client/internal/handle"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/rule"
)

// Happened is what an occasion did.
type Happened struct {
	// Checks are what became of the check of each rule that makes one of it, by the rules' names.
	Checks map[string]Inserted
	// Ended is how many pending checks it ended.
	Ended int
}

// Happened reports an occasion on the caller's handle: what happened, to which entity, when, and data, a JSON object or nil. First the rules that it ends
// have their pending checks of the entity cancelled; then those of the occasion make theirs: all of it or, with an error, nothing. An occasion of which
// no rule knows does nothing.
//
// The rules are read on that handle, by one statement without a lock, and kept for 5 s; package rule says why nothing is lost when one changes meanwhile. An
// occasion that ends nothing and makes one check sends what Insert does. Errors are those of Insert; the horizon of a job_exec does not hold.
func (c *Client) Happened(ctx context.Context, db prescient.DB, occasion string, e prescient.Entity, at time.Time, data json.RawMessage) (did Happened, err error) {
	o := rule.Occasion{Name: occasion, Entity: e, At: at, Data: data}
	if err := errors.Join(o.Validate(), reserved.RefuseNew(e)); err != nil {
		return Happened{}, err
	}
	by := readerOf(db)
	rules, fresh := c.rules.Known(time.Now(), by)
	if !fresh {
		looking := time.Now()
		read, err := rule.ReadAll(ctx, db, &c.tables)
		if err != nil {
			return Happened{}, err
		}
		rules = c.rules.Learn(read, looking, by)
	}
	asked, err := o.Of(rules)
	if err != nil {
		return Happened{}, fmt.Errorf("occasion %s of %s: %w", occasion, e, err)
	}
	for _, job := range asked.Makes {
		if err := job.Validate(); err != nil {
			return Happened{}, fmt.Errorf("occasion %s of %s: %w", occasion, e, err)
		}
	}
	var trace string
	if len(asked.Makes) > 0 {
		var end func(error)
		trace, end = c.trace.Begin(ctx, asked.Makes...)
		defer func() { end(err) }()
	}
	do := func(db prescient.DB) (err error) {
		did = Happened{Checks: make(map[string]Inserted, len(asked.Makes))}
		if did.Ended, err = c.endByRules(ctx, db, asked.Ends); err != nil {
			return fmt.Errorf("occasion %s of %s: %w", occasion, e, err)
		}
		for _, job := range asked.Makes {
			name, _ := rule.NameOf(job.Tag)
			job.Trace = trace
			if did.Checks[name], err = c.insertValid(ctx, db, job); err != nil {
				return fmt.Errorf("occasion %s: %w", occasion, err)
			}
		}
		return nil
	}
	if len(asked.Ends) == 0 && len(asked.Makes) <= 1 { // one statement, which is all or nothing by itself
		err = do(db)
	} else {
		err = handle.InTx(ctx, c.tables.Server, db, do)
	}
	if err != nil {
		return Happened{}, err
	}
	return did, nil
}

// readerOf is what rules are read on: a handle that is a pointer is known by that.
func readerOf(db prescient.DB) rule.Reader {
	if v := reflect.ValueOf(db); v.Kind() == reflect.Pointer && handle.IsCallersTx(db) {
		return rule.Reader(v.Pointer())
	}
	return 0
}

// endByRules ends some checks where they are pending, in a transaction. What a snapshot of the caller's hides is found by a bookend, as Cancel
// finds it.
func (c *Client) endByRules(ctx context.Context, db prescient.DB, checks []prescient.NewJob) (ended int, err error) {
	if len(checks) == 0 {
		return 0, nil
	}
	of := make(map[prescient.Key]prescient.NewJob, len(checks))
	keys := make([]prescient.Key, len(checks))
	for i, job := range checks {
		keys[i] = prescient.KeyOf(job.Entity, job.JobExec, job.Tag)
		of[keys[i]] = job
	}
	callers, lock := handle.IsCallersTx(db), false
	for range handle.MaxTries {
		found, err := c.findKeys(ctx, db, rowtext.BareColumns, keys, lock)
		if err != nil {
			return 0, err
		}
		missed, there := false, make(map[prescient.Key]bool, len(found))
		for _, row := range found {
			if job := of[row.Key()]; row.Entity() != job.Entity || row.JobExec != job.JobExec || row.Tag != job.Tag {
				continue
			}
			n, err := c.endFound(ctx, db, []prescient.FutureJob{row}, prescient.Cancelled)
			if err != nil {
				return 0, fmt.Errorf("ending %s of %s: %w", row.JobExec, row.Entity(), err)
			}
			if n == 1 && audit.Of(ctx).Operator {
				if err := c.recordCancelled(ctx, db, []prescient.FutureJob{row}); err != nil {
					return 0, err
				}
			}
			ended += n
			there[row.Key()], missed = n == 1, missed || n == 0
		}
		if !callers || lock {
			if !missed {
				return ended, nil
			}
			continue
		}
		// A plain read in the caller's transaction may not see the latest rows.
		absent := slices.DeleteFunc(slices.Clone(keys), func(key prescient.Key) bool { return there[key] })
		if len(absent) == 0 {
			return ended, nil
		}
		placed, err := c.withBookends(ctx, db, absent, func() error { return nil })
		if err != nil || placed {
			return ended, err
		}
		keys, lock = absent, true
	}
	return 0, fmt.Errorf("ending %s: others changed the pending checks meanwhile, %d times", literal.KeysOf(keys), handle.MaxTries)
}
