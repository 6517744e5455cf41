package store

import (
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
)

// Places are those of schedules, by their ids, for IN (…), where the server is to be told: Vitess asks these shards alone.
func (t *Tables) Places(ids ...string) string {
	if !t.Server.Placed() {
		return ""
	}
	return literal.List(func(b []byte, id string) []byte { return literal.AppendPlace(b, reserved.PlaceOf(id)) }, ids)
}

// AppendPlace appends the place of a schedule, as the last column of a row, where the server is to be told.
func (t *Tables) AppendPlace(b []byte, id string) []byte {
	if !t.Server.Placed() {
		return b
	}
	return literal.AppendPlace(append(b, ','), reserved.PlaceOf(id))
}
