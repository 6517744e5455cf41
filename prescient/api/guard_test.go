package api

import (
	"testing"

	"prescient/prescient/ops"
)

func TestOneCallerHasHalfOfThePlacesAtMost(t *testing.T) {
	p := newPlaces(4)
	one, other, nobody := ops.Caller{Token: 1}, ops.Caller{Token: 2}, ops.Caller{Name: "without a token"}
	first := p.take(one)
	if first == nil || p.take(one) == nil || p.take(one) != nil {
		t.Error("one has not two of four")
	}
	if p.take(other) == nil || p.take(nobody) == nil || p.take(ops.Caller{Name: "another"}) != nil {
		t.Error("the others do not have the rest")
	}
	first()
	if p.take(one) == nil {
		t.Error("a place that was left is not free")
	}
}
