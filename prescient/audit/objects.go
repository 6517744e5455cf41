package audit

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
)

// MaxObjects is of how many objects ListOf lists the entries.
const MaxObjects = 1000

// ListOf is List for several objects of a kind; of the filter count Since, Until, After, Limit and Bare.
func (l Log) ListOf(ctx context.Context, db prescient.DB, kind Kind, ids []string, f Filter) ([]Stored, error) {
	limit := cmp.Or(f.Limit, 100)
	switch {
	case len(ids) > MaxObjects:
		return nil, fmt.Errorf("%w: %d objects: %d at most are allowed", prescient.ErrInvalid, len(ids), MaxObjects)
	case limit < 1 || limit > MaxPage:
		return nil, fmt.Errorf("%w: limit %d: 1 to %d are allowed", prescient.ErrInvalid, f.Limit, MaxPage)
	case len(ids) == 0:
		return nil, nil
	}
	bounds, err := f.bounds()
	if err != nil {
		return nil, err
	}
	streams := literal.List(func(b []byte, id string) []byte { return streamOf(kind, id).literal(b) }, ids)
	return l.page(ctx, db, f, "stream", slices.Concat(bounds, []string{"stream IN (" + streams + ")"}), limit)
}
