package shards

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"prescient/prescient"
	text "prescient/sql"
)

// The vindexes of VSchema: by the keyspace id that a key is, and by a hash of an event's id.
const (
	itself = "prescient_key"
	byID   = "prescient_id"
)

// byKey are the tables whose rows lie where their job_key says. It begins with a hash of the entity, so that all of an entity lies together.
var byKey = []string{"bulk_check", "future_job", "job_history", "job_run_log", "long_run"}

// byPlace are the tables whose rows lie where their place says: with the entity, or the schedule, that they are of.
var byPlace = []string{"audit_log", "event_outbox", "event_published", "event_set_aside", "job_definition", "job_step", "job_version", "schedule",
	"schedule_deleted", "schedule_refused", "schedule_version", "step_run_log"}

// VSchema says to Vitess where rows lie, as JSON for vtctldclient ApplyVSchema: those of future_job, history, long runs and their logs by job_key,
// what schedules, jobs, events and the audit have by place, what consumers of events have seen by its id, and what each shard has for itself as reference tables. It is added to what a keyspace has, as
// vtctldclient GetVSchema prints it, or to nothing where that is empty: the app's own tables stay as they are.
func VSchema(prefix string, has []byte) (json.RawMessage, error) {
	if err := text.CheckPrefix(prefix); err != nil {
		return nil, fmt.Errorf("%w: %w", prescient.ErrInvalid, err)
	}
	all := make(map[string]json.RawMessage)
	vindexes, tables := make(map[string]any), make(map[string]any)
	if has = bytes.TrimSpace(has); len(has) > 0 {
		err := json.Unmarshal(has, &all)
		for name, into := range map[string]*map[string]any{"vindexes": &vindexes, "tables": &tables} {
			if part := all[name]; err == nil && len(part) > 0 && string(part) != "null" {
				err = json.Unmarshal(part, into)
			}
		}
		if err != nil {
			return nil, fmt.Errorf("%w: the VSchema of the keyspace is to be JSON, as vtctldclient GetVSchema prints it: %w", prescient.ErrInvalid, err)
		}
		if string(all["sharded"]) != "true" && len(tables) > 0 {
			return nil, fmt.Errorf("%w: the keyspace is not sharded: all its rows lie together, and it needs no VSchema", prescient.ErrInvalid)
		}
	}
	vindexes[itself] = map[string]string{"type": "binary"}
	vindexes[byID] = map[string]string{"type": "binary_md5"}
	by := func(column, vindex string) map[string]any {
		return map[string]any{"column_vindexes": []map[string]string{{"column": column, "name": vindex}}}
	}
	for _, name := range append(text.Tables(""), "schema_version", "schema_lock") { // a table that is not in it stops a reshard
		switch {
		case slices.Contains(byKey, name):
			tables[prefix+name] = by("job_key", itself)
		case name == "event_seen":
			tables[prefix+name] = by("id", byID)
		case slices.Contains(byPlace, name):
			tables[prefix+name] = by("place", itself)
		default:
			tables[prefix+name] = map[string]string{"type": "reference"}
		}
	}
	whole := map[string]any{}
	for name, value := range all {
		whole[name] = value
	}
	whole["sharded"], whole["vindexes"], whole["tables"] = true, vindexes, tables
	return json.Marshal(whole)
}
