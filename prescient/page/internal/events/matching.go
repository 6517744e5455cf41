package events

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"prescient/prescient"
	"prescient/prescient/event"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

const (
	// sampleShown is how many of those that a filter matches are shown before something is done to all.
	sampleShown = 20
	// mostSteps is to how many thousands one deed is done.
	mostSteps = 10
)

// matchingSeen is what the templates of the deeds to all get.
type matchingSeen struct {
	event.MatchCount
	Topic, ID string
	Events    []ops.EventSetAside // the first
	Most      int                 // to how many one deed is done
}

// Moment is the time up to which they were refused, as the form has it.
func (m matchingSeen) Moment() string { return m.Until.UTC().Format("2006-01-02T15:04:05.999999Z") }

// matchingOf is the filter of an address: none is that of all.
func matchingOf(q *front.Query) event.Matching {
	m := event.Matching{Topic: q.Text("topic"), ID: q.Text("id")}
	m.All = m.Topic == "" && m.ID == ""
	return m
}

// askMatching counts those to which something is to be done, and shows the first.
func askMatching(ctx context.Context, a front.Asked) (front.Shown, error) {
	m := matchingOf(a.Query)
	is := matchingSeen{Topic: m.Topic, ID: m.ID, Most: mostSteps * event.MostMatching}
	var err error
	if is.MatchCount, err = ops.CountEvents.Do(ctx, a.Ops, a.By, m); err != nil {
		return front.Shown{}, err
	}
	if is.Count == 0 && is.Whole {
		return front.Shown{}, fmt.Errorf("%w: no event that was set aside matches", prescient.ErrInvalid)
	}
	page, err := ops.ListSetAside.Do(ctx, a.Ops, a.By, ops.SetAsideAsked{Topic: m.Topic, ID: m.ID, Paging: ops.Paging{Limit: sampleShown}})
	is.Events = page.Rows
	return front.Shown{Data: is}, err
}

// toMatching does something to all that matched when its page was made, a thousand in a transaction, which has an idempotency key of its own: sent again, it
// goes on where it ended.
func toMatching(op ops.Operation[event.Matching, event.Matched]) func(ctx context.Context, d front.Doing) (front.Done, error) {
	return func(ctx context.Context, d front.Doing) (front.Done, error) {
		m := matchingOf(d.Query)
		m.Until = d.Time("until")
		if err := d.Err(); err != nil {
			return front.Done{}, err
		}
		done, refused := front.Done{Path: "/events", Query: []string{"topic", m.Topic, "id", m.ID}}, []string(nil)
		for i := range mostSteps {
			by := d.By
			if by.Key != "" {
				by.Key += "." + strconv.Itoa(i)
			}
			did, err := op.Do(ctx, d.Ops, by, m)
			if err != nil && done.Count > 0 {
				err = fmt.Errorf("it was done to %d, and then to no more: %w", done.Count, err)
			}
			if err != nil {
				return done, err
			}
			done.Count, refused = done.Count+did.Count, append(refused, did.Refused...)
			if m.After, m.Until = did.Next, did.Until; m.After == 0 {
				break
			}
		}
		if done.Count == 0 && len(refused) > 0 {
			return done, fmt.Errorf("%w: %s", prescient.ErrInvalid, strings.Join(refused, "; "))
		}
		return done, nil
	}
}
