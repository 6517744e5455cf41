package bulk

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient/bulk"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

const (
	// rowsShown is how many rows a list has.
	rowsShown = 50
	// whileUnderWay is how often it is worth looking while something is under way.
	whileUnderWay = 2 * time.Second
)

// shown is a run, or a preview, with what the templates say of it.
type shown struct {
	bulk.Run
	Filter string
	// Open says that it is under way, and Stoppable that it can be stopped.
	Open, Stoppable bool
	// ToGo is how long it takes still at the rate so far; 0 where that is not known.
	ToGo time.Duration
}

func shownOf(r bulk.Run, now time.Time) shown {
	s := shown{Run: r, Filter: r.Filter.String(), Open: r.StartedAt != nil && r.EndedAt == nil, Stoppable: r.EndedAt == nil && r.StoppedAt == nil}
	if s.Open && r.StoppedAt == nil && r.Done > 0 && r.Done < r.Matched {
		if took := now.Sub(*r.StartedAt); took > time.Second {
			s.ToGo = time.Duration(float64(took) * float64(r.Matched-r.Done) / float64(r.Done)).Round(time.Second)
		}
	}
	return s
}

// listSeen is what the template gets.
type listSeen struct {
	ops.Clock
	Rows     []shown
	Next     []string // the query of the next page
	Operator bool
}

func showList(ctx context.Context, a front.Asked) (front.Shown, error) {
	is := listSeen{Operator: a.Operator()}
	var err error
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	page, err := ops.ListBulk.Do(ctx, a.Ops, a.By, ops.Paging{After: a.Text("after"), Limit: rowsShown})
	if err != nil {
		return front.Shown{}, err
	}
	again := front.UntilSlot(is.Now, is.Resolution())
	for _, r := range page.Rows {
		one := shownOf(r, is.Now)
		if one.Open {
			again = whileUnderWay
		}
		is.Rows = append(is.Rows, one)
	}
	if page.Next != "" {
		is.Next = a.With("after", page.Next)
	}
	return front.Shown{Data: is, Again: again}, nil
}

// runSeen is what the templates of one get.
type runSeen struct {
	ops.Clock
	Is       shown
	Operator bool
}

// showRun shows one; it is the page of stopping it, too.
func showRun(ctx context.Context, a front.Asked) (front.Shown, error) {
	number := a.Number("number")
	if err := a.Err(); err != nil {
		return front.Shown{}, err
	}
	is := runSeen{Operator: a.Operator()}
	var err error
	if is.Clock, err = ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{}); err != nil {
		return front.Shown{}, err
	}
	run, err := ops.GetBulk.Do(ctx, a.Ops, a.By, ops.BulkNumber{Number: number})
	if err != nil {
		return front.Shown{}, err
	}
	is.Is = shownOf(run, is.Now)
	result := front.Shown{Title: fmt.Sprintf("Deed %d in bulk: %s", number, run.Deed), Data: is}
	if is.Is.Open {
		result.Again = whileUnderWay
	}
	return result, nil
}

// stop has a deed end after its present step.
func stop(ctx context.Context, d front.Doing) (front.Done, error) {
	number := d.Number("number")
	if err := d.Err(); err != nil {
		return front.Done{}, err
	}
	run, err := ops.StopBulk.Do(ctx, d.Ops, d.By, ops.BulkNumber{Number: number})
	return front.Done{Path: "/bulk/run", Query: []string{"number", run.Cursor()}, Count: 1}, err
}
