package api

import (
	"testing"

	"prescient/prescient/ops"
)

func TestOneCallerHasHalfOfThePlacesAtMost(t *testing.T) {
	p := newPlaces(4, 2)
	one, other, nobody := ops.Caller{Token: 1}, ops.Caller{Token: 2}, ops.Caller{Name: "without a token"}
	has := func(by ops.Caller) bool {
		leave, _ := p.take(by)
		return leave != nil
	}
	first, _ := p.take(one)
	if first == nil || !has(one) || has(one) {
		t.Error("one has not two of four")
	}
	if whoIs(ops.Caller{Name: "a", Anyone: true, Host: "192.0.2.1"}) == whoIs(ops.Caller{Name: "a", Anyone: true, Host: "192.0.2.2"}) || whoIs(ops.Caller{Token: 1, Host: "192.0.2.1"}) != whoIs(one) {
		t.Error("those without a token are one, or one with a token is two")
	}
	if !has(other) || !has(nobody) || has(ops.Caller{Name: "another"}) {
		t.Error("the others do not have the rest")
	}
	first()
	if !has(one) {
		t.Error("a place that was left is not free")
	}
	if _, own := p.take(one); !own {
		t.Error("it is not said that one has as many as it may")
	}
	if _, own := p.take(ops.Caller{Name: "another"}); own {
		t.Error("another has none")
	}
}
