package agent

import (
	"context"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// toDrain is what agent/beat says where the agent is to drain.
const toDrain = 2

// Drains says whether the agent is to take nothing new, as it heard with its last heartbeat, and returns what is closed once that changes.
func (a *Agent) Drains() (drains bool, turns <-chan struct{}) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.turned == nil {
		a.turned = make(chan struct{})
	}
	return a.drains, a.turned
}

// turn takes note of whether the agent is to drain, and says whether that is new.
func (a *Agent) turn(drains bool) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.drains == drains {
		return false
	}
	a.drains = drains
	if a.turned != nil {
		close(a.turned)
		a.turned = nil
	}
	return true
}

// Verbs of the audit.
const (
	verbDrain   = "drain"
	verbUndrain = "undrain"
)

// Controls say what agents are to do.
type Controls struct {
	tables *store.Tables
	log    audit.Log
}

// ControlsOn returns the controls of the agents of some tables. It is for rooms of the library.
func ControlsOn(tables *store.Tables) Controls { return Controls{tables, audit.On(tables)} }

// OpenControls returns the controls of the agents of an installation. Its arguments and errors are those of List.
func OpenControls(ctx context.Context, db *sqlx.DB, prefix string, dialect text.Dialect) (Controls, error) {
	t, err := store.OpenTables(ctx, db, prefix, 0, dialect)
	if err != nil {
		return Controls{}, err
	}
	return ControlsOn(&t), nil
}

// Drain wants the live agents of a name to take nothing new, from their next heartbeat on: no slots, no buckets, no long runs, no events. What they have under
// way has the time that it has as one stops; long runs are handed on. They stay up, and are listed as Draining. One that is started anew does not drain. It says
// of how many that was not wanted yet. db is a transaction. The error wraps prescient.ErrNotFound where no agent of the name lives, but timers.
func (c Controls) Drain(ctx context.Context, db prescient.DB, name string) (n int, err error) {
	if err := prescient.ValidText("name of an agent", name, 64); err != nil {
		return 0, err
	}
	by := audit.Of(ctx).Person
	wanted := literal.Of(literal.AppendText, name)
	silent := literal.Of(literal.AppendInt, DeadAfter.Microseconds())
	if n, err = store.Affected(ctx, db, c.tables.Fill("agent/drain", "{wanted_by}", literal.Of(literal.AppendText, by), "{name}", wanted, "{silent}", silent)); err != nil {
		return 0, fmt.Errorf("draining agent %q: %w", name, err)
	}
	if n == 0 {
		return 0, c.there(ctx, db, name)
	}
	return n, c.record(ctx, db, name, verbDrain)
}

// Undrain lets the agents of a name take what there is again, from their next heartbeat on, and says how many were to drain. db is a transaction. Its errors are
// those of Drain.
func (c Controls) Undrain(ctx context.Context, db prescient.DB, name string) (n int, err error) {
	if err := prescient.ValidText("name of an agent", name, 64); err != nil {
		return 0, err
	}
	if n, err = store.Affected(ctx, db, c.tables.Fill("agent/undrain", "{name}", literal.Of(literal.AppendText, name))); err != nil {
		return 0, fmt.Errorf("undraining agent %q: %w", name, err)
	}
	if n == 0 {
		return 0, c.there(ctx, db, name)
	}
	return n, c.record(ctx, db, name, verbUndrain)
}

// there returns an error where no agent of a name lives.
func (c Controls) there(ctx context.Context, db prescient.DB, name string) error {
	var n int
	query := c.tables.Fill("agent/there", "{name}", literal.Of(literal.AppendText, name), "{silent}", literal.Of(literal.AppendInt, DeadAfter.Microseconds()))
	switch err := store.QueryRow(ctx, db, []any{&n}, query); {
	case err != nil:
		return fmt.Errorf("looking for agent %q: %w", name, err)
	case n == 0:
		return fmt.Errorf("%w: no agent that stays up and lives has the name %.80q", prescient.ErrNotFound, name)
	}
	return nil
}

// record writes the audit.
func (c Controls) record(ctx context.Context, db prescient.DB, name, verb string) error {
	return c.log.Record(ctx, db, audit.Entry{Kind: audit.Agent, ID: name, Verb: verb})
}

// Working is how many agents and timers run slots, and are not to drain, beside those of a name.
func Working(all []Known, beside string) (n int) {
	for _, known := range all {
		if known.Name != beside && known.State == Live && (!known.Drain || known.deaf()) && (known.Kind == Work || known.Kind == Run) {
			n++
		}
	}
	return n
}

// Wish says of an agent that is to drain who wants that, and since when; empty for one that is not.
func (k Known) Wish() string {
	if !k.Drain {
		return ""
	}
	said := ""
	if k.WantedBy != "" {
		said = " by " + k.WantedBy
	}
	if k.WantedAt != nil {
		said += " since " + k.WantedAt.UTC().Format(time.DateTime)
	}
	if k.deaf() {
		said += ", but works: its program is older than drain"
	}
	return said
}

// deaf says of an agent that it was heard of since it was told to drain, and does not: one that knows how says so at once.
func (k Known) deaf() bool {
	return k.State == Live && k.Drain && k.WantedAt != nil && k.SeenAt.Sub(*k.WantedAt) > statementTime
}
