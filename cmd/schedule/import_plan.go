package schedule

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"prescient/cmd/internal/definition"
	"prescient/cmd/internal/exit"
	"prescient/cmd/internal/file"
	"prescient/cmd/internal/output"
	"prescient/prescient"
	"prescient/prescient/schedule"
)

// plan is what an import is to do.
type plan struct {
	created, changed []difference
	deleted          []string // ids
	kept             int
}

// difference is a schedule of the file that is not as it is stored, and how.
type difference struct {
	entry   file.Entry
	changes []file.Change
}

// planned is a line of the difference, as import --json prints it.
type planned struct {
	definition.Done
	Changes []file.Change `json:"changes,omitempty"`
}

// compared is how many schedules are compared at a time.
const compared = 500

// plan compares the file with what is stored. Where something is refused, all of that is named, and the error says so.
func (i *fileImport) plan(ctx context.Context, tx *sql.Tx) (*plan, error) {
	now, err := i.s.Client.Now(ctx, tx)
	if err != nil {
		return nil, err
	}
	p := &plan{}
	checked := make(map[string]bool)
	taken := 0
	for some := range slices.Chunk(i.entries, compared) {
		ids := make([]string, len(some))
		by := make(map[string]file.Entry, len(some))
		for n, entry := range some {
			ids[n], by[entry.Schedule.ID] = entry.Schedule.ID, entry
		}
		differences := make(map[string][]file.Change, len(some))
		owners := make(map[string]prescient.Entity, len(some))
		err := i.s.Schedules.Each(ctx, tx, ids, func(one schedule.Stored) error {
			owners[one.ID], differences[one.ID] = one.Owner, file.Difference(one, *by[one.ID].Schedule)
			return nil
		})
		if err != nil {
			return nil, err
		}
		for _, entry := range some {
			owner, there := owners[entry.Schedule.ID]
			refused, err := i.compare(p, difference{entry, differences[entry.Schedule.ID]}, owner, there, now, checked)
			if err != nil {
				return nil, err
			}
			if refused {
				taken++
			}
		}
	}
	switch {
	case i.bad > taken:
		return nil, i.refused()
	case i.bad > 0:
		err := i.refused()
		return nil, &exit.Error{Code: exit.CodePending, Err: fmt.Errorf("%w (--update changes what is there)", err)}
	case i.deleteMissing:
		return p, i.missing(ctx, tx, p)
	}
	return p, nil
}

// compare says what is to be done about a schedule of the file, beside one that is there, and has an owner. It is refused where another
// definition is there, which is not to be changed, and bad where it could not be created.
func (i *fileImport) compare(p *plan, d difference, owner prescient.Entity, there bool, now time.Time, checked map[string]bool) (refused bool, err error) {
	entry, moved := d.entry, true
	if there {
		if len(d.changes) == 0 {
			p.kept++
			return false, nil
		}
		if !i.update && (!i.deleteMissing || owner != i.owner) {
			return true, i.complain(entry.Line, fmt.Errorf("schedule %q is there already, with another definition: %s", entry.Schedule.ID, said(d.changes)))
		}
		moved = slices.ContainsFunc(d.changes, func(c file.Change) bool {
			return slices.Contains([]string{"crontab", "zone", "jitter", "coalesce"}, c.Name)
		})
	}
	if moved && !entry.Schedule.Paused {
		if err := i.check(entry.Schedule.Schedule, now, checked); err != nil {
			bad := entry.Refused(err)
			return false, i.complain(bad.Line, bad)
		}
	}
	if there {
		p.changed = append(p.changed, d)
	} else {
		p.created = append(p.created, d)
	}
	return false, nil
}

// check says whether a schedule could be created. That takes a thousand occurrences, so what many have in common is looked at once.
func (i *fileImport) check(one schedule.Schedule, now time.Time, checked map[string]bool) error {
	timeline := strings.Join(append(slices.Clone(one.Crontabs), one.Zone, fmt.Sprint(one.MayCoalesce)), "\n")
	if one.Jitter == 0 && checked[timeline] {
		return nil
	}
	if err := i.s.Schedules.Check(one, now); err != nil {
		return err
	}
	checked[timeline] = true
	return nil
}

// missing finds what the owner has and the file has not.
func (i *fileImport) missing(ctx context.Context, tx *sql.Tx, p *plan) error {
	wanted := make(map[string]bool, len(i.entries))
	for _, entry := range i.entries {
		wanted[entry.Schedule.ID] = true
	}
	filter := schedule.Filter{Owner: i.owner, Limit: 1000}
	return eachSchedule(ctx, i.s, tx, filter, filter.Limit, func(one schedule.Stored) error {
		if !wanted[one.ID] {
			p.deleted = append(p.deleted, one.ID)
		}
		return nil
	})
}

// said is what changes, in a line.
func said(changes []file.Change) string {
	texts := make([]string, len(changes))
	for i, c := range changes {
		texts[i] = c.String()
	}
	return strings.Join(texts, "; ")
}

// print prints the difference.
func (p *plan) print(to io.Writer, asJSON bool) error {
	buffered := bufio.NewWriter(to)
	out := output.To(buffered)
	line := func(sign, done, id string, changes []file.Change) {
		switch {
		case asJSON:
			out.JSON(planned{definition.Done{ID: id, Did: done}, changes})
		case len(changes) > 0:
			out.Say("%s %s: %s", sign, id, said(changes))
		default:
			out.Say("%s %s", sign, id)
		}
	}
	for _, d := range p.created {
		line("+", "created", d.entry.Schedule.ID, nil)
	}
	for _, d := range p.changed {
		line("~", "changed", d.entry.Schedule.ID, d.changes)
	}
	for _, id := range p.deleted {
		line("-", "deleted", id, nil)
	}
	return errors.Join(out.Err(), buffered.Flush())
}

// do does what is planned.
func (i *fileImport) do(ctx context.Context, tx *sql.Tx, p *plan) error {
	var wanted []schedule.Wanted
	for _, d := range append(slices.Clone(p.created), p.changed...) {
		wanted = append(wanted, *d.entry.Schedule)
	}
	if _, _, err := i.s.Schedules.Put(ctx, tx, wanted, len(p.changed) > 0); err != nil {
		if errors.Is(err, schedule.ErrExists) {
			err = fmt.Errorf("%w, meanwhile", err)
		}
		return err
	}
	_, err := i.s.Schedules.Delete(ctx, tx, p.deleted...)
	return err
}
