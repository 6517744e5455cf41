package shards

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"prescient/prescient"
	text "prescient/sql"
)

// The vindexes of VSchema: by the keyspace id that a key is, and by a hash of an event's id.
const (
	itself = "prescient_key"
	byID   = "prescient_id"
)

// kept is what is read here of the VSchema of a keyspace.
type kept struct {
	Sharded  bool
	Vindexes map[string]struct{ Type string }
	Tables   map[string]struct {
		Type string
		By   []struct {
			Column  string
			Columns []string
			Name    string
		} `json:"column_vindexes"`
	}
}

func read(vschema []byte) (k kept, err error) {
	if vschema = bytes.TrimSpace(vschema); len(vschema) > 0 {
		err = json.Unmarshal(vschema, &k)
	}
	if err != nil {
		return k, fmt.Errorf("%w: the VSchema of the keyspace is to be JSON, as vtctldclient GetVSchema prints it: %w", prescient.ErrInvalid, err)
	}
	return k, nil
}

// routes are where its tables lie.
func (k kept) routes() map[string]route {
	all := make(map[string]route)
	for name, table := range k.Tables {
		switch {
		case len(table.By) > 0:
			first := table.By[0]
			all[name] = route{cmp.Or(strings.Join(first.Columns, ", "), first.Column), k.Vindexes[first.Name].Type}
		case table.Type == "reference":
			all[name] = route{}
		default:
			all[name] = route{"nothing", cmp.Or(table.Type, "no vindex")}
		}
	}
	return all
}

// VSchema says to Vitess where rows lie, as JSON for vtctldclient ApplyVSchema: those of future_job, history, long runs and their logs by job_key,
// what schedules, jobs, events and the audit have by place, what consumers of events have seen by its id, and what each shard has for itself as
// reference tables. It is added to what a keyspace has, as vtctldclient GetVSchema prints it, or to nothing where that is empty: the app's own tables,
// and ours that lie where they are to, stay as they are.
func VSchema(prefix string, has []byte) (json.RawMessage, error) {
	if err := text.CheckPrefix(prefix); err != nil {
		return nil, fmt.Errorf("%w: %w", prescient.ErrInvalid, err)
	}
	before, err := read(has)
	if err != nil {
		return nil, err
	}
	if !before.Sharded && len(before.Tables) > 0 {
		return nil, fmt.Errorf("%w: the keyspace is not sharded: all its rows lie together, and it needs no VSchema", prescient.ErrInvalid)
	}
	whole := make(map[string]any) // also what Vitess has in it beside
	vindexes, lie := make(map[string]any), make(map[string]any)
	if len(bytes.TrimSpace(has)) > 0 {
		for _, into := range []any{&whole, &struct{ Vindexes, Tables *map[string]any }{&vindexes, &lie}} {
			if err := json.Unmarshal(has, into); err != nil {
				return nil, err
			}
		}
	}
	for name, is := range map[string]string{itself: "binary", byID: "binary_md5"} {
		if before.Vindexes[name].Type != is {
			vindexes[name] = map[string]string{"type": is}
		}
	}
	names, routes := map[string]string{"binary": itself, "binary_md5": byID}, before.routes()
	for _, table := range tables() {
		name, want := prefix+table, wanted(table)
		switch is, there := routes[name]; {
		case there && is == want:
		case want == route{}:
			lie[name] = map[string]string{"type": "reference"}
		default:
			lie[name] = map[string]any{"column_vindexes": []map[string]string{{"column": want.Column, "name": names[want.Type]}}}
		}
	}
	whole["sharded"], whole["vindexes"], whole["tables"] = true, vindexes, lie
	return json.Marshal(whole)
}

// Changes says what a VSchema changes in that of before, a line each; none where that is as good.
func Changes(before, after []byte) (list []string, err error) {
	was, err := read(before)
	if err != nil {
		return nil, err
	}
	is, err := read(after)
	if err != nil {
		return nil, err
	}
	if is.Sharded && !was.Sharded {
		list = append(list, "the keyspace is sharded")
	}
	for _, name := range slices.Sorted(maps.Keys(is.Vindexes)) {
		switch old, there := was.Vindexes[name]; {
		case !there:
			list = append(list, fmt.Sprintf("vindex %s is %s", name, is.Vindexes[name].Type))
		case old != is.Vindexes[name]:
			list = append(list, fmt.Sprintf("vindex %s is %s, no longer %s", name, is.Vindexes[name].Type, old.Type))
		}
	}
	lay, lies := was.routes(), is.routes()
	for _, name := range slices.Sorted(maps.Keys(lies)) {
		switch old, there := lay[name]; {
		case !there:
			list = append(list, fmt.Sprintf("%s lies %s", name, lies[name]))
		case old != lies[name]:
			list = append(list, fmt.Sprintf("%s lies %s, no longer %s", name, lies[name], old))
		}
	}
	return list, nil
}
