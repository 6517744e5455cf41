package recurring

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"

	"prescient/prescient"
	"prescient/prescient/ops"
	"prescient/prescient/ops/definition"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

const (
	// mostAtOnce is to how many schedules or jobs one deed is done, mostSwitched how many are paused or resumed by several that follow one another: as many as
	// a form has place for, whatever their names are.
	mostAtOnce, mostSwitched = definition.MostSwitched, 5 * definition.MostSwitched
	// describedAtOnce is of how many its page says more than the name.
	describedAtOnce = 20
)

// chosenSeen is what the templates of deeds to several get.
type chosenSeen struct {
	ops.Clock
	// Kind is schedule or job.
	Kind string
	// Names are to which it is to be done, Some what is known of the first.
	Names []string
	Some  []chosen
	Rest  int
	// More says that the search matches more than are done at once, which are most.
	More bool
	most int
	// Search says that these are all that a search matches.
	Search bool
}

// chosen is one of them.
type chosen struct {
	Name, Timing string
	definition.Switch
}

// namesOf are to which something is to be done: those of the address, or those of the form, which has them escaped, as forms change ends of lines.
func namesOf(q *front.Query, what string) []string {
	names := q.Texts(what)
	for _, one := range q.Texts("chosen") {
		if name, err := url.QueryUnescape(one); err == nil {
			names = append(names, name)
		}
	}
	return names
}

// Escaped are the names for a form.
func (is chosenSeen) Escaped() (all []string) {
	for _, name := range is.Names {
		all = append(all, url.QueryEscape(name))
	}
	return all
}

// askSchedules shows to which schedules something is to be done: those that are named, or the first that a search matches.
func askSchedules(most int) func(ctx context.Context, a front.Asked) (front.Shown, error) {
	return func(ctx context.Context, a front.Asked) (front.Shown, error) { return askSomeSchedules(ctx, a, most) }
}

func askSomeSchedules(ctx context.Context, a front.Asked, most int) (front.Shown, error) {
	is := chosenSeen{Kind: "schedule", Names: namesOf(a.Query, "id"), Search: a.Has("all") || a.Has("chosen"), most: most}
	err := matching(&is, a, func(by narrowed, after string) (ops.Page[ops.Schedule], error) {
		return ops.ListSchedules.Do(ctx, a.Ops, a.By, by.schedules(after, mostAtOnce))
	}, func(s ops.Schedule) (string, bool) { return s.ID, jobOf(s) == "" }) // jobs are stopped by their names
	if err != nil {
		return front.Shown{}, err
	}
	return is.show(ctx, a, func(id string) (chosen, error) {
		s, err := ops.GetSchedule.Do(ctx, a.Ops, bare(a.By), ops.ScheduleAsked{ID: id})
		return chosen{id, inWords(s.Crontabs, s.Zone), s.Switch}, err
	})
}

// askJobs is askSchedules for jobs.
func askJobs(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := chosenSeen{Kind: "job", Names: namesOf(a.Query, "name"), Search: a.Has("all") || a.Has("chosen"), most: mostSwitched}
	err := matching(&is, a, func(by narrowed, after string) (ops.Page[ops.Job], error) {
		return ops.ListJobs.Do(ctx, a.Ops, a.By, by.jobs(after, mostAtOnce))
	}, func(j ops.Job) (string, bool) { return j.Name, true })
	if err != nil {
		return front.Shown{}, err
	}
	return is.show(ctx, a, func(name string) (chosen, error) {
		j, err := ops.GetJob.Do(ctx, a.Ops, bare(a.By), ops.JobAsked{JobNamed: ops.JobNamed{Name: name}})
		return chosen{name, inWords(j.Crontabs, j.Zone), j.Switch}, err
	})
}

// matching takes all that a search matches, where none is named; is says what something is named, and whether it is one of them.
func matching[T any](seen *chosenSeen, a front.Asked, list func(by narrowed, after string) (ops.Page[T], error), is func(T) (name string, one bool)) error {
	if !seen.Search || len(seen.Names) > 0 {
		return nil
	}
	by := narrowedBy(a.Query)
	if !by.Given() {
		return fmt.Errorf("%w: search for %ss first: this would be done to all", prescient.ErrInvalid, seen.Kind)
	}
	for after := ""; ; {
		page, err := list(by, after)
		if err != nil {
			return err
		}
		for _, row := range page.Rows {
			if name, one := is(row); one {
				seen.Names = append(seen.Names, name)
			}
		}
		if after = page.Next; after == "" || len(seen.Names) >= seen.most {
			seen.More = after != ""
			return nil
		}
	}
}

// show describes the first of them.
func (is chosenSeen) show(ctx context.Context, a front.Asked, describe func(name string) (chosen, error)) (front.Shown, error) {
	is.Names = is.Names[:min(len(is.Names), is.most)]
	if len(is.Names) == 0 {
		return front.Shown{}, fmt.Errorf("%w: no %s is chosen", prescient.ErrInvalid, is.Kind)
	}
	var err error
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	for _, name := range is.Names[:min(len(is.Names), describedAtOnce)] {
		one, err := describe(name)
		if err != nil {
			return front.Shown{}, err
		}
		is.Some = append(is.Some, one)
	}
	is.Rest = len(is.Names) - len(is.Some)
	return front.Shown{Data: is}, nil
}

// isGone says that what something was to be done to is not there any more.
func isGone(err error) bool {
	return errors.Is(err, schedule.ErrNotFound) || errors.Is(err, steps.ErrNotFound)
}

// toEach does something to each of some, in a transaction of its own. Of several, one that is gone by now is passed over. Each has an idempotency key of its
// own, so that all may be sent again.
func toEach(d front.Doing, names []string, do func(by ops.Caller, name string) (changed bool, err error)) (n int, err error) {
	if len(names) == 0 || len(names) > mostAtOnce {
		return 0, fmt.Errorf("%w: %d are chosen: 1 to %d are allowed", prescient.ErrInvalid, len(names), mostAtOnce)
	}
	for i, name := range names {
		by := d.By
		if by.Key != "" {
			by.Key += "." + strconv.Itoa(i)
		}
		changed, err := do(by, name)
		switch {
		case err != nil && isGone(err) && len(names) > 1:
		case err != nil && n > 0:
			return n, fmt.Errorf("it was done to %d, and then to no more: %w", n, err)
		case err != nil:
			return 0, err
		case changed:
			n++
		}
	}
	return n, nil
}

// inParts does something to so many at a time, and says how many were changed.
func inParts(by ops.Caller, names []string, most int, do func(by ops.Caller, part []string) (definition.Switched, error)) (n int, err error) {
	var refused []definition.Refusal
	key, i := by.Key, 0
	for part := range slices.Chunk(names, most) {
		if i++; key != "" && i > 1 {
			by.Key = key + "." + strconv.Itoa(i)
		}
		did, err := do(by, part)
		n, refused = n+did.Changed, append(refused, did.Refused...)
		switch {
		case err != nil && n > 0:
			return n, fmt.Errorf("it was done to %d, and then to no more: %w", n, err)
		case err != nil:
			return 0, err
		}
	}
	if n == 0 && len(refused) > 0 {
		return 0, fmt.Errorf("%w: %s", prescient.ErrInvalid, refused[0].Reason)
	}
	return n, nil
}

// switchOf pauses or resumes one, or several by as few deeds as may be. Each has an idempotency key of its own.
func switchOf(path, what string, one func(ctx context.Context, d front.Doing, name string) (ops.Changed, error), all ops.Operation[ops.Switching, definition.Switched]) func(ctx context.Context, d front.Doing) (front.Done, error) {
	return func(ctx context.Context, d front.Doing) (front.Done, error) {
		names := namesOf(d.Query, what)
		if len(names) == 0 || len(names) > mostSwitched {
			return front.Done{}, fmt.Errorf("%w: %d are chosen: 1 to %d are allowed", prescient.ErrInvalid, len(names), mostSwitched)
		}
		if len(names) == 1 {
			did, err := one(ctx, d, names[0])
			return doneTo(path, what, names, count(did.Changed)), err
		}
		n, err := inParts(d.By, names, mostAtOnce, func(by ops.Caller, part []string) (definition.Switched, error) {
			return all.Do(ctx, d.Ops, by, ops.Switching{Names: part})
		})
		return doneTo(path, what, names, n), err
	}
}

func schedulesDeed(one ops.Operation[ops.ScheduleAsked, ops.Changed], all ops.Operation[ops.Switching, definition.Switched]) func(ctx context.Context, d front.Doing) (front.Done, error) {
	return switchOf("/schedule", "id", func(ctx context.Context, d front.Doing, id string) (ops.Changed, error) {
		return one.Do(ctx, d.Ops, d.By, ops.ScheduleAsked{ID: id})
	}, all)
}

func jobsDeed(one ops.Operation[ops.JobNamed, ops.Changed], all ops.Operation[ops.Switching, definition.Switched]) func(ctx context.Context, d front.Doing) (front.Done, error) {
	return switchOf("/job", "name", func(ctx context.Context, d front.Doing, name string) (ops.Changed, error) {
		return one.Do(ctx, d.Ops, d.By, ops.JobNamed{Name: name})
	}, all)
}

// doneTo is where to go after a deed: to the one, or to the list.
func doneTo(path, what string, names []string, n int) front.Done {
	if len(names) == 1 {
		return front.Done{Path: path, Query: []string{what, names[0]}, Count: n}
	}
	return front.Done{Path: path + "s", Count: n}
}

func runSchedules(ctx context.Context, d front.Doing) (front.Done, error) {
	names := namesOf(d.Query, "id")
	n, err := toEach(d, names, func(by ops.Caller, id string) (bool, error) {
		_, err := ops.RunSchedule.Do(ctx, d.Ops, by, ops.ScheduleAsked{ID: id})
		return err == nil, err
	})
	return doneTo("/schedule", "id", names, n), err
}

func planSchedules(ctx context.Context, d front.Doing) (front.Done, error) {
	names := namesOf(d.Query, "id")
	n, err := toEach(d, names, func(by ops.Caller, id string) (bool, error) {
		did, err := ops.PlanSchedule.Do(ctx, d.Ops, by, ops.ScheduleAsked{ID: id})
		return did.Changed(), err
	})
	return doneTo("/schedule", "id", names, n), err
}

func runJob(ctx context.Context, d front.Doing) (front.Done, error) {
	began, err := ops.RunJob.Do(ctx, d.Ops, d.By, ops.JobNamed{Name: d.Text("name")})
	return front.Done{Path: "/job", Query: []string{"name", d.Text("name"), "began", began.Run}, Count: 1}, err
}

func deleteSchedules(ctx context.Context, d front.Doing) (front.Done, error) {
	ids := namesOf(d.Query, "id")
	if len(ids) == 0 {
		return front.Done{}, fmt.Errorf("%w: no schedule is chosen", prescient.ErrInvalid)
	}
	did, err := ops.DeleteSchedules.Do(ctx, d.Ops, d.By, ops.SchedulesChosen{IDs: ids})
	return front.Done{Path: "/schedules", Count: did.Count}, err
}
