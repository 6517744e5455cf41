package shards

import (
	"fmt"
	"slices"
	"strings"

	text "prescient/sql"
)

// byKey are the tables whose rows lie where their job_key says. It begins with a hash of the entity, so that all of an entity lies together.
var byKey = []string{"bulk_check", "future_job", "job_history", "job_run_log", "long_run"}

// byPlace are the tables whose rows lie where their place says: with the entity, or the schedule, that they are of.
var byPlace = []string{"audit_log", "event_outbox", "event_published", "event_set_aside", "job_definition", "job_step", "job_version", "schedule",
	"schedule_deleted", "schedule_refused", "schedule_version", "step_run_log"}

// route is where the rows of a table lie: by a column and a vindex of a type. The zero value is a reference table, which each shard has for itself.
type route struct {
	Column string `db:"Columns"`
	Type   string `db:"Type"`
}

// String says it as in "future_job lies by job_key (binary)".
func (r route) String() string {
	if r == (route{}) {
		return "on each shard for itself"
	}
	return fmt.Sprintf("by %s (%s)", r.Column, r.Type)
}

// wanted is where the rows of a table of prescient are to lie.
func wanted(table string) route {
	switch {
	case slices.Contains(byKey, table):
		return route{"job_key", "binary"}
	case slices.Contains(byPlace, table):
		return route{"place", "binary"}
	case table == "event_seen":
		return route{"id", "binary_md5"}
	}
	return route{}
}

// tables are those that a shard has: of prescient, and of its migrations.
func tables() []string { return append(text.Tables(""), "schema_version", "schema_lock") }

// differences says which tables lie elsewhere than they are to, or nowhere.
func differences(prefix string, has map[string]route) (list []string) {
	var missing []string
	for _, table := range tables() {
		name, want := prefix+table, wanted(table)
		switch is, there := has[name]; {
		case !there:
			missing = append(missing, name)
		case is != want:
			list = append(list, fmt.Sprintf("%s lies %s, and is to lie %s", name, is, want))
		}
	}
	if len(missing) > 0 {
		list = append(list, "there is no "+strings.Join(missing, ", "))
	}
	return list
}
