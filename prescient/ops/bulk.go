package ops

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"prescient/prescient"
	"prescient/prescient/bulk"
)

// BulkNumber names a bulk run.
type BulkNumber struct {
	Number uint64 `json:"number,string" query:"number" required:"true" doc:"The number of the bulk run."`
}

// BulkStarting begins the deed of a preview.
type BulkStarting struct {
	BulkNumber
	Token string `json:"token" doc:"The token of the preview, which holds 15 minutes and begins the deed once."`
}

// PreviewBulk counts what a deed would be done to.
var PreviewBulk = deed("bulk.preview", Operator, "Count what a filter matches, show a few, and get a token to begin a deed to all of it. No check is changed.", func(ctx context.Context, d doing, in bulk.Asked) (bulk.Preview, error) {
	return d.bulk.Preview(ctx, d.tx, in, bulk.By{Person: d.by.Name, Reason: d.by.Reason, Host: d.by.Host})
})

// StartBulk begins the deed of a preview.
var StartBulk = deed("bulk.start", Operator, "Begin the deed of a preview, once. It is worked off by and by.", func(ctx context.Context, d doing, in BulkStarting) (bulk.Run, error) {
	if err := d.bulk.Start(ctx, d.tx, in.Number, in.Token); err != nil {
		return bulk.Run{}, err
	}
	return d.bulk.Get(ctx, d.tx, in.Number)
})

// StopBulk stops a deed.
var StopBulk = deed("bulk.stop", Operator, "Stop a deed after its present step. What it did stays done.", func(ctx context.Context, d doing, in BulkNumber) (bulk.Run, error) {
	if err := d.bulk.Stop(ctx, d.tx, in.Number); err != nil {
		return bulk.Run{}, err
	}
	return d.bulk.Get(ctx, d.tx, in.Number)
})

// GetBulk returns a preview or a deed.
var GetBulk = query("bulk.get", Viewer, "Get a preview, or the deed that it became, with how far that is.", func(ctx context.Context, q asked, in BulkNumber) (bulk.Run, error) {
	return q.bulk.Get(ctx, q.db, in.Number)
})

// ListBulk lists previews and deeds.
var ListBulk = query("bulk.list", Viewer, "List previews and deeds, the latest first.", func(ctx context.Context, q asked, in Paging) (Page[bulk.Run], error) {
	before := uint64(math.MaxInt64)
	if in.After != "" {
		var err error
		if before, err = strconv.ParseUint(in.After, 10, 63); err != nil {
			return Page[bulk.Run]{}, fmt.Errorf("%w: cursor %.40q is no cursor; give next of the page before", prescient.ErrInvalid, in.After)
		}
	}
	rows, err := q.bulk.List(ctx, q.db, before, in.Limit+1)
	return page(rows, in.Limit, err)
})

// WorkBulk works off the deeds that are under way, on the operator's account, until none is left that no other process has. worker names this one.
func (o *Ops) WorkBulk(ctx context.Context, worker string) error {
	return o.bulk.Work(ctx, o.accounts.Operator, worker, nil)
}
