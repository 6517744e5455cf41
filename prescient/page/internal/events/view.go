package events

import (
	"context"
	"strconv"
	"time"

	"prescient/prescient"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

// eventsSeen is what the template gets.
type eventsSeen struct {
	ops.Clock
	ops.Backlog
	Pause     *prescient.Paused // of the events, or of everything
	All       bool              // everything is paused
	Topic, ID string            // to which the refused are narrowed
	Refused   []ops.EventSetAside
	Shown     []string // the numbers of those that are shown, for a link
	Next      []string // the query of the next page
	Operator  bool
}

const (
	// rowsShown is how many events that were refused a page has.
	rowsShown = 100
	lookAgain = 15 * time.Second
)

func showEvents(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := eventsSeen{Topic: a.Text("topic"), ID: a.Text("id"), Operator: a.Operator()}
	var err error
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	if is.Backlog, err = ops.GetBacklog.Do(ctx, a.Ops, a.By, ops.Nothing{}); err != nil {
		return front.Shown{}, err
	}
	pauses, err := ops.ListPauses.Do(ctx, a.Ops, a.By, ops.Nothing{})
	if err != nil {
		return front.Shown{}, err
	}
	for i, p := range pauses.Rows {
		if all := p.JobExec == prescient.AllExecs; all || p.JobExec == prescient.AllEvents && !is.All {
			is.Pause, is.All = &pauses.Rows[i], all
		}
	}
	refused, err := ops.ListSetAside.Do(ctx, a.Ops, a.By, ops.SetAsideAsked{Topic: is.Topic, ID: is.ID, Paging: ops.Paging{After: a.Text("after"), Limit: rowsShown}})
	if err != nil {
		return front.Shown{}, err
	}
	is.Refused = refused.Rows
	for _, e := range refused.Rows {
		is.Shown = append(is.Shown, numberName, strconv.FormatUint(e.Number, 10))
	}
	if refused.Next != "" {
		is.Next = a.With("after", refused.Next)
	}
	return front.Shown{Data: is, Again: lookAgain}, nil
}
