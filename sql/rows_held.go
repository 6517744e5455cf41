package sql

import (
	"context"
	"errors"
)

// RowsHeld returns the error of a statement that waited in vain for rows with who may have them locked, as a HeldError; others as they are.
func (s Schema) RowsHeld(ctx context.Context, db Querier, err error) error {
	if !refused(err, errLockWaitTimeout, errNoWait) || errors.Is(err, ErrHeld) {
		return err
	}
	tables, failed := s.Expected()
	if failed != nil {
		return errors.Join(err, failed)
	}
	var names []string
	for _, t := range tables {
		names = append(names, t.Name)
	}
	held := whoHolds(ctx, db, names)
	held.Rows, held.Err = true, err
	return held
}
