package kept

import (
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
)

// Places are those of schedules, for IN (…), where the server is to be told: Vitess asks these shards alone.
func Places(t *store.Tables, ids ...string) string {
	if !t.Server.Placed() {
		return ""
	}
	return literal.List(func(b []byte, id string) []byte { return literal.AppendPlace(b, reserved.PlaceOf(id)) }, ids)
}

// AppendPlace appends the place of a schedule, as the last column of a row, where the server is to be told.
func AppendPlace(b []byte, t *store.Tables, id string) []byte {
	if !t.Server.Placed() {
		return b
	}
	return literal.AppendPlace(append(b, ','), reserved.PlaceOf(id))
}
