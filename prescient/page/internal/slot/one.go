package slot

import (
	"context"
	"errors"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/attest"
	"prescient/prescient/client"
	"prescient/prescient/forecast"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
	"prescient/prescient/page/internal/look"
	"prescient/prescient/stats"
)

// oneSeen is what the template gets.
type oneSeen struct {
	ops.Clock
	Is           time.Time
	Before, Next time.Time
	Ahead        bool
	Buckets      []client.Bucket
	More         bool // buckets than are shown
	Totals       totals
	Execs        []stats.Exec
	// Part is what the forecast says of it.
	Part *forecast.Part
	// Report is what attest says of it; nil where it was not asked, Operator says whether it may be.
	Report   *attest.Report
	Operator bool
}

// lateAfter is from when on an attestation takes a slot for late.
const lateAfter = time.Minute

func showOne(ctx context.Context, a front.Asked) (front.Shown, error) {
	clock, err := ops.GetClock.Do(ctx, a.Ops, a.By, struct{}{})
	if err != nil {
		return front.Shown{}, err
	}
	at := a.Time("slot")
	if err := a.Err(); err != nil {
		return front.Shown{}, err
	}
	if at.IsZero() {
		at = clock.Slot
	}
	if !at.Equal(at.Truncate(time.Second)) {
		return front.Shown{}, fmt.Errorf("%w: slot %s: slots are at whole seconds", prescient.ErrInvalid, at)
	}
	is := oneSeen{Clock: clock, Is: at, Before: at.Add(-clock.Resolution()), Next: at.Add(clock.Resolution()), Ahead: at.After(clock.Now), Operator: a.Operator()}
	page, err := ops.ListLedger.Do(ctx, a.Ops, a.By, ops.LedgerAsked{Slot: at, Paging: ops.Paging{Limit: ledgerRead}})
	if err != nil {
		return front.Shown{}, err
	}
	is.Buckets, is.More, is.Totals = page.Rows, page.Next != "", sum(page.Rows)
	report, err := ops.StatsOfExecs.Do(ctx, a.Ops, a.By, ops.StatsAsked{From: at, Before: at.Add(time.Second)})
	if err != nil {
		return front.Shown{}, err
	}
	is.Execs = report.Execs
	if is.Next.After(clock.Now) {
		if is.Part, err = partOf(ctx, a, at); err != nil {
			return front.Shown{}, err
		}
	}
	if is.Operator && !is.Ahead && clock.Now.Sub(at) > time.Second {
		proof, err := ops.Attest.Do(ctx, a.Ops, a.By, ops.AttestAsked{From: at, Before: at.Add(time.Second), LateMS: lateAfter.Milliseconds()})
		if err != nil {
			return front.Shown{}, err
		}
		is.Report = &proof
	}
	shown := front.Shown{Title: "Slot " + look.Stamp(at), Data: is}
	switch {
	case is.Ahead:
		shown.Again = min(time.Hour, at.Sub(clock.Now)+3*time.Second)
	case is.open():
		shown.Again = whileUnderWay
	}
	return shown, nil
}

// open says that its run is not over.
func (o oneSeen) open() bool {
	for _, b := range o.Buckets {
		if b.FinishedAt == nil {
			return true
		}
	}
	return len(o.Buckets) == 0 && o.Next.After(o.Now)
}

// partOf is what the forecast says of a slot; nil for nothing.
func partOf(ctx context.Context, a front.Asked, at time.Time) (*forecast.Part, error) {
	told, err := ops.GetForecast.Do(ctx, a.Ops, a.By, ops.ForecastAsked{})
	if errors.Is(err, forecast.ErrNone) {
		return nil, nil
	}
	for i := range told.Slots {
		if told.Slots[i].Start.Equal(at) {
			return &told.Slots[i], err
		}
	}
	return nil, err
}
