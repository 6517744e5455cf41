package notify

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/rs/zerolog"

	"prescient/prescient"
	"prescient/prescient/doctor"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// Options are for New; Settings need a receiver at least.
type Options struct {
	// Prefix of the table names; empty by default.
	Prefix string
	// Dialect of the server; see [text.Dialect].
	Dialect text.Dialect
	// Settings are when who is told.
	Settings Settings
	// Doctor is what it goes by; its Prefix and Dialect are those above, and it takes one connection at a time.
	Doctor doctor.Options
	// Log has a line at warn where a receiver cannot be told any more, and one at info where it can again. The zero value is silent.
	Log zerolog.Logger
}

// Notifier tells receivers of findings, where no other process does.
type Notifier struct {
	options Options
	open    func(ctx context.Context, worker string) (table, error)
	examine func(ctx context.Context) ([]doctor.Finding, error)
}

// New returns one, on a pool that connect.Open made, whose user has the rights of a worker. The error wraps prescient.ErrInvalid.
func New(db *sqlx.DB, o Options) (*Notifier, error) {
	if err := o.Settings.complete(); err != nil {
		return nil, fmt.Errorf("notify: %w", err)
	}
	o.Doctor.Prefix, o.Doctor.Dialect, o.Doctor.AtATime = o.Prefix, o.Dialect, 1
	return &Notifier{options: o,
		examine: func(ctx context.Context) ([]doctor.Finding, error) { return doctor.Examine(ctx, db, o.Doctor) },
		open: func(ctx context.Context, worker string) (table, error) {
			if err := prescient.ValidText("worker", worker, 64); err != nil {
				return nil, err
			}
			t, err := store.OpenTables(ctx, db, o.Prefix, 0, o.Dialect)
			return &findings{db: db, tables: t, name: worker}, err
		}}, nil
}

// How often it is looked whether somebody has the duty to send: in seconds another takes over.
const (
	tryEvery = 5 * time.Second
	openTime = 30 * time.Second
)

// Serve tells receivers until ctx ends, whenever no other process does. worker is what the process is called in the table duty. What goes wrong is
// tried again, and has a line in the log once for each time that it begins to.
func (n *Notifier) Serve(ctx context.Context, worker string) {
	var failing bool
	say := func(err error) {
		if err != nil && !failing && ctx.Err() == nil {
			n.options.Log.Warn().Err(err).Msg("nobody is told of findings for now; this is tried again")
		}
		failing = err != nil
	}
	var t table
	for wait := time.Duration(0); store.Sleep(ctx, wait) == nil; wait = tryEvery + rand.N(tryEvery) {
		if t == nil {
			opening, cancel := context.WithTimeout(ctx, openTime)
			opened, err := n.open(opening, worker)
			cancel()
			if err != nil {
				say(err)
				continue
			}
			t = opened
		}
		held, err := t.take(ctx)
		if err == nil && held != nil {
			err = n.lead(ctx, t, held, say)
		}
		say(err)
	}
}
