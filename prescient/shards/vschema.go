package shards

import (
	"bytes"
	"encoding/json"
	"fmt"

	"prescient/prescient"
	text "prescient/sql"
)

// The vindexes of VSchema: by the keyspace id that a key is, and by a hash of an event's id.
const (
	itself = "prescient_key"
	byID   = "prescient_id"
)

// VSchema says to Vitess where rows lie, as JSON for vtctldclient ApplyVSchema: those of future_job, history, long runs and their logs by job_key,
// what schedules, jobs, events and the audit have by place, what consumers of events have seen by its id, and what each shard has for itself as
// reference tables. It is added to what a keyspace has, as vtctldclient GetVSchema prints it, or to nothing where that is empty: the app's own tables
// stay as they are.
func VSchema(prefix string, has []byte) (json.RawMessage, error) {
	if err := text.CheckPrefix(prefix); err != nil {
		return nil, fmt.Errorf("%w: %w", prescient.ErrInvalid, err)
	}
	all := make(map[string]json.RawMessage)
	vindexes, lie := make(map[string]any), make(map[string]any)
	if has = bytes.TrimSpace(has); len(has) > 0 {
		err := json.Unmarshal(has, &all)
		for name, into := range map[string]*map[string]any{"vindexes": &vindexes, "tables": &lie} {
			if part := all[name]; err == nil && len(part) > 0 && string(part) != "null" {
				err = json.Unmarshal(part, into)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%w: the VSchema of the keyspace is to be JSON, as vtctldclient GetVSchema prints it: %w", prescient.ErrInvalid, err)
		}
		if string(all["sharded"]) != "true" && len(lie) > 0 {
			return nil, fmt.Errorf("%w: the keyspace is not sharded: all its rows lie together, and it needs no VSchema", prescient.ErrInvalid)
		}
	}
	vindexes[itself] = map[string]string{"type": "binary"}
	vindexes[byID] = map[string]string{"type": "binary_md5"}
	names := map[string]string{"binary": itself, "binary_md5": byID}
	for _, table := range tables() {
		if lies := wanted(table); lies != (place{}) {
			lie[prefix+table] = map[string]any{"column_vindexes": []map[string]string{{"column": lies.Column, "name": names[lies.Type]}}}
		} else {
			lie[prefix+table] = map[string]string{"type": "reference"}
		}
	}
	whole := map[string]any{}
	for name, value := range all {
		whole[name] = value
	}
	whole["sharded"], whole["vindexes"], whole["tables"] = true, vindexes, lie
	return json.Marshal(whole)
}
