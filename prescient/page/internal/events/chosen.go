package events

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"prescient/prescient"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

// numberName is the value of an address that has the number of an event, once for each.
const numberName = "number"

// mostChosen is how many events something is done to at a time, mostRead among how many they are looked for.
const (
	mostChosen = 1000
	mostRead   = 1000
)

// chosenSeen is what the templates of the deeds get.
type chosenSeen struct {
	Chosen int
	Events []ops.EventSetAside // of those, the ones that are there
	Sure   bool                // the others are not
}

// Gone is how many are not there any more.
func (c chosenSeen) Gone() int { return c.Chosen - len(c.Events) }

// numbers reads which events are chosen, the first of them first.
func numbers(texts []string) (chosen []uint64, err error) {
	for _, text := range texts {
		n, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%w: %.40q is no number of an event", prescient.ErrInvalid, text)
		}
		chosen = append(chosen, n)
	}
	slices.Sort(chosen)
	chosen = slices.Compact(chosen)
	if len(chosen) == 0 || len(chosen) > mostChosen {
		return nil, fmt.Errorf("%w: %d events are chosen: 1 to %d are allowed", prescient.ErrInvalid, len(chosen), mostChosen)
	}
	return chosen, nil
}

// askChosen looks for the events to which something is to be done.
func askChosen(ctx context.Context, a front.Asked) (front.Shown, error) {
	chosen, err := numbers(a.Texts(numberName))
	if err != nil {
		return front.Shown{}, err
	}
	asked := ops.SetAsideAsked{Paging: ops.Paging{Limit: mostRead}}
	if chosen[0] > 0 {
		asked.After = strconv.FormatUint(chosen[0]-1, 10)
	}
	page, err := ops.ListSetAside.Do(ctx, a.Ops, a.By, asked)
	if err != nil {
		return front.Shown{}, err
	}
	return front.Shown{Data: among(chosen, page)}, nil
}

// among are the chosen of a page that begins with the first of them.
func among(chosen []uint64, page ops.Page[ops.EventSetAside]) chosenSeen {
	is := chosenSeen{Chosen: len(chosen), Sure: page.Next == ""}
	for _, e := range page.Rows {
		if _, found := slices.BinarySearch(chosen, e.Number); found {
			is.Events = append(is.Events, e)
		}
		is.Sure = is.Sure || e.Number >= chosen[len(chosen)-1]
	}
	return is
}

// chosenOf is what the operations are asked.
func chosenOf(d front.Doing) (ops.EventsChosen, error) {
	if _, err := numbers(d.Texts(numberName)); err != nil {
		return ops.EventsChosen{}, err
	}
	return ops.EventsChosen{Numbers: d.Texts(numberName)}, nil
}

func resend(ctx context.Context, d front.Doing) (front.Done, error) {
	chosen, err := chosenOf(d)
	if err != nil {
		return front.Done{}, err
	}
	did, err := ops.ResendEvents.Do(ctx, d.Ops, d.By, chosen)
	return front.Done{Path: "/events", Count: did.Count}, err
}

func drop(ctx context.Context, d front.Doing) (front.Done, error) {
	chosen, err := chosenOf(d)
	if err != nil {
		return front.Done{}, err
	}
	did, err := ops.DropEvents.Do(ctx, d.Ops, d.By, chosen)
	return front.Done{Path: "/events", Count: did.Count}, err
}
