package kept

import (
	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
)

// Places are those of schedules, for IN (…), where the server is to be told: Vitess asks these shards alone.
func Places(t *store.Tables, ids ...string) string {
	if !t.Server.Placed() {
		return ""
	}
	return literal.List(func(b []byte, id string) []byte { return literal.AppendPlace(b, placeOf(id)) }, ids)
}

// AppendPlace appends the place of a schedule, as the last column of a row, where the server is to be told.
func AppendPlace(b []byte, t *store.Tables, id string) []byte {
	if !t.Server.Placed() {
		return b
	}
	return literal.AppendPlace(append(b, ','), placeOf(id))
}

func placeOf(id string) prescient.KeyspaceID {
	return prescient.Entity{Name: prescient.ScheduleEntity, Key: id}.KeyspaceID()
}
