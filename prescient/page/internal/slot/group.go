package slot

import (
	"context"
	"embed"
	"errors"
	"time"

	"prescient/prescient/forecast"
	"prescient/prescient/ops"
	"prescient/prescient/page/internal/front"
)

//go:embed templates/*.html
var templates embed.FS

// Group has the views.
func Group() front.Group {
	return front.Group{Templates: templates, Views: []front.View{
		{Path: "/", Title: "Now", Nav: "Now", Role: ops.Viewer, Template: "now", Show: showNow},
		{Path: "/slots", Title: "Slots", Nav: "Slots", Role: ops.Viewer, Template: "slots", Show: showDay},
		{Path: "/slot", Title: "Slot", Role: ops.Viewer, Template: "slot", Show: showOne},
	}}
}

// ledgerRead is how many rows of the ledger are read at most.
const ledgerRead = 1000

// read reads what is known of the slots of a span; made says whether there is a forecast.
func (s *span) read(ctx context.Context, a front.Asked) (made bool, err error) {
	page, err := ops.ListLedger.Do(ctx, a.Ops, a.By, ops.LedgerAsked{SlotSpan: ops.SlotSpan{From: s.first, Before: s.last.Add(time.Second)}, Paging: ops.Paging{Limit: ledgerRead}})
	if err != nil {
		return false, err
	}
	s.ledger, s.cut = page.Rows, page.Next != ""
	older, err := ops.ListLedger.Do(ctx, a.Ops, a.By, ops.LedgerAsked{SlotSpan: ops.SlotSpan{Before: s.first}, Paging: ops.Paging{Limit: 1}})
	if err != nil {
		return false, err
	}
	s.older = len(older.Rows) > 0
	told, err := ops.GetForecast.Do(ctx, a.Ops, a.By, ops.ForecastAsked{Brief: true})
	if errors.Is(err, forecast.ErrNone) {
		return false, nil
	}
	s.parts = told.Slots
	return true, err
}
