package program

import (
	"context"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient/ops"
	"prescient/prescient/rulebook"
)

// workEvery is how often is looked for bulk runs, and for rules that were changed.
const workEvery = 2 * time.Second

// WorkBulk works off bulk runs under a name of its own, until ctx ends. What it was at stays under way then, for another.
func WorkBulk(ctx context.Context, o *ops.Ops, name string, log zerolog.Logger) {
	workOff(ctx, log, "bulk runs are not worked off; they are tried again", func() error { return o.WorkBulk(ctx, name) })
}

// WorkRules has what is pending follow rules that were changed, as WorkBulk works off bulk runs.
func WorkRules(ctx context.Context, book *rulebook.Book, db *sqlx.DB, name string, log zerolog.Logger) {
	workOff(ctx, log, "pending checks are not moved as rules want them; it is tried again", func() error { return book.Work(ctx, db, name) })
}

func workOff(ctx context.Context, log zerolog.Logger, failed string, work func() error) {
	for {
		if err := work(); err != nil && ctx.Err() == nil {
			log.Error().Err(err).Msg(failed)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(workEvery):
		}
	}
}
