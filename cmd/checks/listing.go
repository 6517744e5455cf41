package checks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"
	"github.com/spf13/cobra"

	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient"
	"prescient/prescient/client"
)

// listFlags are the flags that narrow a listing.
type listFlags struct {
	entity, exec, outcome, slot, from, before, after string
	limit, search                                    int
	ofHistory                                        bool
}

// defaultLimit is how many rows a page has unless told otherwise.
const defaultLimit = 100

func (f *listFlags) addFlags(cmd *cobra.Command, ofTime string) {
	flags := cmd.Flags()
	flags.StringVar(&f.entity, "entity", "", "only of this entity (order/42), or of this kind (order)")
	flags.StringVar(&f.exec, "exec", "", "only of this job_exec")
	flags.StringVar(&f.from, "from", "", "only where "+ofTime+" is at this time or later: 2026-03-01 13:00 (UTC), now-1h")
	flags.StringVar(&f.before, "before", "", "only where "+ofTime+" is before this time")
	flags.StringVar(&f.after, "after", "", "go on behind the row with this cursor, the last of the page before")
	flags.StringVar(&f.slot, "slot", "", "only of this slot")
	flags.IntVar(&f.search, "search", client.DefaultSearch, "rows to look at, at most, where no index serves the filter")
	flags.IntVar(&f.limit, "limit", defaultLimit, fmt.Sprintf("rows on a page, %d at most", client.MaxPage-1))
}

// check reads the flags as far as it can without the database.
func (f *listFlags) check() (client.ListFilter, error) {
	filter := client.ListFilter{JobExec: f.exec, After: f.after, Limit: f.limit + 1, Search: f.search}
	if f.search < 1 {
		return filter, exit.Usage(fmt.Errorf("--search %d: positive numbers are allowed", f.search))
	}
	if f.limit < 1 || f.limit >= client.MaxPage {
		return filter, exit.Usage(fmt.Errorf("--limit %d: 1 to %d are allowed", f.limit, client.MaxPage-1))
	}
	if strings.Contains(f.entity, "/") {
		entity, err := parseEntity(f.entity)
		if err != nil {
			return filter, err
		}
		filter.Entity = entity
	} else {
		filter.Entity.Name = f.entity
	}
	if f.outcome != "" {
		outcome, err := prescient.ParseOutcome(f.outcome)
		if err != nil {
			return filter, fmt.Errorf("--outcome: %w", err)
		}
		filter.Outcome = outcome
	}
	if f.slot != "" && f.from+f.before != "" && !f.ofHistory {
		return filter, exit.Usage(fmt.Errorf("--slot %q: give either a slot or --from and --before", f.slot))
	}
	for flag, text := range map[string]string{"slot": f.slot, "from": f.from, "before": f.before} {
		if err := program.CheckTime(flag, text); err != nil {
			return filter, err
		}
	}
	return filter, nil
}

// endsWithin is how long after a slot its rows are looked for in history, unless told otherwise: no index leads to them.
const endsWithin = 24 * time.Hour

// narrow adds the times to a filter.
func (f *listFlags) narrow(ctx context.Context, s *program.Session, filter *client.ListFilter) (err error) {
	if filter.From, filter.Before, err = s.Period(ctx, "from", f.from, "before", f.before); err != nil || f.slot == "" {
		return err
	}
	slot, err := s.Moment(ctx, "slot", f.slot)
	if err != nil {
		return err
	}
	if grid := s.Config.Grid; !grid.On(slot) {
		return exit.Usage(fmt.Errorf("--slot: %s is no slot at a resolution of %s; those around it are %s and %s",
			output.Stamp(slot), grid, output.Stamp(grid.Floor(slot)), output.Stamp(grid.Ceil(slot))))
	}
	filter.Slot = slot
	if f.ofHistory && f.entity == "" && f.from+f.before == "" {
		filter.From, filter.Before = slot, slot.Add(endsWithin)
	}
	return nil
}

// row is what a listing prints: a row and, with --json, its cursor.
type row interface{ Cursor() string }

// listed is what a listing found.
type listed[R row] struct {
	rows []R
	// early says how far the search came, where it did not come to the end.
	early *client.SearchedError
	// none is what to say where there are no rows.
	none string
}

// searched is the last line of a listing with --json whose search did not come to the end.
type searched struct {
	More     bool      `json:"more"`
	After    string    `json:"after"`
	LookedAt int       `json:"looked_at"`
	Reached  time.Time `json:"reached"`
}

// list reads the page that the flags ask for; read is the client's Pending or History.
func list[R row](prog *program.Program, cmd *cobra.Command, f listFlags,
	read func(*client.Client, context.Context, *sqlx.DB, client.ListFilter) ([]R, error)) (found listed[R], err error) {
	filter, err := f.check()
	if err != nil {
		return found, err
	}
	s, err := prog.Read(cmd)
	if err != nil {
		return found, err
	}
	defer s.Close()
	if err := f.narrow(cmd.Context(), s, &filter); err != nil {
		return found, err
	}
	found.rows, err = read(s.Client, cmd.Context(), s.DB, filter)
	if err != nil && !errors.As(err, &found.early) {
		return found, s.Explain(err)
	}
	found.none = f.none(found.early)
	if prog.JSON {
		found.rows = found.rows[:min(len(found.rows), f.limit)]
		return found, nil
	}
	return found, found.tellMore(cmd.ErrOrStderr(), f.limit)
}

// none says why there are no rows: because of the filter, or because there are none at all.
func (f *listFlags) none(early *client.SearchedError) string {
	what := "is pending"
	if f.ofHistory {
		what = "has ended"
	}
	switch {
	case early != nil:
		return fmt.Sprintf("nothing matches the filter among the %d rows that were looked at", early.Rows)
	case f.entity+f.exec+f.outcome+f.slot+f.from+f.before != "":
		return fmt.Sprintf("nothing that %s matches the filter", what)
	case f.after != "":
		return "nothing comes behind this cursor"
	}
	return "nothing " + what
}

// tellMore says on stderr how to go on, and cuts the row too many off that was read to see whether there are more.
func (l *listed[R]) tellMore(stderr io.Writer, limit int) error {
	if l.early != nil {
		return output.Say(stderr, "%d rows were looked at, as far as %s: narrow the time with --from and --before, or go on with --after '%s'",
			l.early.Rows, output.Stamp(l.early.Reached), l.early.After)
	}
	if len(l.rows) <= limit {
		return nil
	}
	l.rows = l.rows[:limit]
	return output.Say(stderr, "there are more: --after '%s'", l.rows[limit-1].Cursor())
}

// printJSON prints a line for each row, as line makes it. Where the search ended early a last line has the cursor to go
// on from: the rows that were looked at in vain have none.
func (l *listed[R]) printJSON(out io.Writer, line func(R) any) error {
	lines := make([]any, 0, len(l.rows)+1)
	for _, row := range l.rows {
		lines = append(lines, line(row))
	}
	if l.early != nil {
		lines = append(lines, searched{More: true, After: l.early.After, LookedAt: l.early.Rows, Reached: l.early.Reached})
	}
	return output.Lines(out, lines)
}
