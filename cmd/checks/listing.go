package checks

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"prescient/cmd/internal/arguments"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/output"
	"prescient/cmd/internal/program"
	"prescient/prescient"
	"prescient/prescient/client"
)

// listFlags are the flags that narrow a listing.
type listFlags struct {
	entity, exec, slot, from, before, after string
	outcome                                 prescient.Outcome
	limit, search                           int
	ofHistory                               bool
}

// defaultLimit is how many rows a page has unless told otherwise.
const defaultLimit = 100

func (f *listFlags) addFlags(cmd *cobra.Command, ofTime string) {
	flags := cmd.Flags()
	flags.StringVar(&f.entity, "entity", "", "only of this entity (order/42), or of this kind (order)")
	flags.StringVar(&f.exec, "exec", "", "only of this job_exec")
	arguments.Time(flags, &f.from, "from", "only where "+ofTime+" is at this time or later: 2026-03-01 13:00 (UTC), now-1h")
	arguments.Time(flags, &f.before, "before", "only where "+ofTime+" is before this time")
	flags.StringVar(&f.after, "after", "", "go on behind the row with this cursor, the last of the page before")
	arguments.Time(flags, &f.slot, "slot", "only of this slot")
	arguments.Number(flags, &f.search, "search", client.DefaultSearch, 1, math.MaxInt, "rows to look at, at most, where no index serves the filter")
	arguments.Number(flags, &f.limit, "limit", defaultLimit, 1, client.MaxPage-1, fmt.Sprintf("rows on a page, %d at most", client.MaxPage-1))
}

// check reads the flags as far as it can without the database.
func (f *listFlags) check() (client.ListFilter, error) {
	filter := client.ListFilter{JobExec: f.exec, Outcome: f.outcome, After: f.after, Limit: f.limit + 1, Search: f.search}
	if strings.Contains(f.entity, "/") {
		entity, err := parseEntity(f.entity)
		if err != nil {
			return filter, err
		}
		filter.Entity = entity
	} else {
		filter.Entity.Name = f.entity
	}
	if f.slot != "" && f.from+f.before != "" && !f.ofHistory {
		return filter, exit.Usage(fmt.Errorf("--slot %q: give either a slot or --from and --before", f.slot))
	}
	return filter, nil
}

// endsWithin is how long after a slot its rows are looked for in history, unless told otherwise: no index leads to them.
const endsWithin = 24 * time.Hour

// narrow adds the times to a filter.
func (f *listFlags) narrow(ctx context.Context, s *program.Session, filter *client.ListFilter) (err error) {
	if filter.From, filter.Before, err = s.Period(ctx, f.from, f.before); err != nil || f.slot == "" {
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

// row is what a listing prints.
type row interface{ Cursor() string }

// listing is a command that lists rows: read is the client's Pending or History, line is a row in JSON.
type listing[R row] struct {
	read    func(*client.Client, context.Context, client.Lister, client.ListFilter) ([]R, error)
	line    func(R) any
	columns []output.Column
	cells   func(R) []string
}

// print prints the page that the flags ask for.
func (l listing[R]) print(cmd *cobra.Command, prog *program.Program, f listFlags) error {
	filter, err := f.check()
	if err != nil {
		return err
	}
	page := output.Page[R]{Limit: f.limit, LatestFirst: f.ofHistory, Line: l.line, Columns: l.columns, Cells: l.cells, None: f.none()}
	return program.List(cmd, prog, page, func(s *program.Session) ([]R, *output.Early, error) {
		filter := filter // a moment is that of each shard's clock
		if err := f.narrow(cmd.Context(), s, &filter); err != nil {
			return nil, nil, err
		}
		rows, err := l.read(s.Client, cmd.Context(), s.DB, filter)
		if early := new(client.SearchedError); errors.As(err, &early) {
			return rows, &output.Early{Looked: early.Rows, Reached: early.Reached, After: early.After, Of: "rows", Narrow: "--from and --before"}, nil
		}
		return rows, nil, s.Explain(err)
	})
}

// none says why there are no rows: because of the filter, or because there are none at all.
func (f *listFlags) none() string {
	what := "is pending"
	if f.ofHistory {
		what = "has ended"
	}
	switch {
	case f.entity+f.exec+string(f.outcome)+f.slot+f.from+f.before != "":
		return fmt.Sprintf("nothing that %s matches the filter", what)
	case f.after != "":
		return "nothing comes behind this cursor"
	}
	return "nothing " + what
}
