package migrate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Advice says what helps where a program finds the tables not ready, which is not always a migration. command is how the program is told
// to migrate. It only reads; an account that may not read which migrations were applied is told to migrate, which tells the rest.
func Advice(ctx context.Context, db *sql.DB, s Schema, command string) string {
	missing, err := s.missing(ctx, db)
	var to int64
	column := db.QueryRowContext(ctx, "SELECT migrated_to FROM "+s.Prefix+"slot_config WHERE id = 1").Scan(&to) // the baseline's
	switch {
	case errors.Is(err, ErrEarlier), refused(column, errNoSuchColumn):
		return "This program cannot bring tables of such a version up to date. " + ofEarlier
	case err == nil && len(missing) == 0:
		return fmt.Sprintf("All migrations were applied, so somebody dropped, emptied or changed slot_config. `%[1]s` does not mend that. "+
			"`%[1]s --repair` prints the statement that does", command)
	}
	return fmt.Sprintf("Run `%s`", command)
}
