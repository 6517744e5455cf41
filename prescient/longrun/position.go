package longrun

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
)

// ErrPosition is returned where a position is no more what was read: another run of the same queue has saved one.
var ErrPosition = errors.New("another run of this queue has saved its position")

// Position says how far a queue is that a long run consumes. It outlives the check and its run: it is there for the next one,
// whatever became of those, until the owner of the tables deletes it.
type Position struct {
	// Text is the position, as the function of the run writes it, and Passed what changes less often, beside it.
	Text, Passed []byte
	version      uint64 // 0 where there is none yet
}

// Known says whether there is a position.
func (p Position) Known() bool { return p.version > 0 }

// Position reads the position under a name, an identifier.
func (r *Run) Position(ctx context.Context, name string) (p Position, err error) {
	if err := prescient.ValidIdentifier("name of a position", name); err != nil {
		return p, err
	}
	err = r.exec.send.Query(ctx, func(ctx context.Context) error {
		err := r.exec.send.DB.QueryRowContext(ctx, r.exec.tables.Stmt.Get("longrun/position"), name).Scan(&p.version, &p.Text, &p.Passed)
		if errors.Is(err, sql.ErrNoRows) {
			p, err = Position{}, nil
		}
		return err
	})
	if err != nil {
		return Position{}, fmt.Errorf("reading the position %s: %w", name, err)
	}
	return p, nil
}

// SavePosition saves the one after this in the transaction of a SaveTx, and returns it: it is the position once that is committed.
// Where passed is nil, Passed stays. The error wraps ErrPosition, or is the server's.
func (r *Run) SavePosition(ctx context.Context, tx prescient.DB, name string, after Position, text, passed []byte) (Position, error) {
	next := Position{Text: text, Passed: passed, version: after.version + 1}
	if passed == nil {
		next.Passed = after.Passed
	}
	n, err := int(0), error(nil)
	if after.Known() {
		n, err = store.Affected(ctx, tx, r.exec.tables.Stmt.Get("longrun/position_next"), text, passed, name, after.version)
	} else {
		n, err = store.Affected(ctx, tx, r.exec.tables.Stmt.Get("longrun/position_first"), name, text, append([]byte{}, passed...))
	}
	switch {
	case errno.Is(err, errno.DuplicateKey), err == nil && n == 0:
		return after, ErrPosition
	case err != nil:
		return after, fmt.Errorf("saving the position %s: %w", name, err)
	}
	return next, nil
}
