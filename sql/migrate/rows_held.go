package migrate

import (
	"context"
	"errors"

	text "prescient/sql"
)

// RowsHeld returns the error of a statement that waited in vain for rows with who may have them locked, as a HeldError; others as they are.
func (s Schema) RowsHeld(ctx context.Context, db text.Querier, err error) error {
	if !refused(err, errLockWaitTimeout, errNoWait) || errors.Is(err, ErrHeld) {
		return err
	}
	held := whoHolds(ctx, db, text.Tables(s.Prefix))
	held.Rows, held.Err = true, err
	return held
}
