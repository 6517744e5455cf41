package prescient

import (
	"database/sql"
	"testing"

	text "prescient/sql"
)

// capability is something of SQL that a test cannot do without, and that TiDB does not have. What the library makes of
// it there stands in the README.
type capability string

const (
	columnDefaults     capability = "expressions as defaults, and CHECKs: a plain INSERT"
	storedProcedures   capability = "stored procedures"
	allIsolationLevels capability = "READ UNCOMMITTED and SERIALIZABLE"
	jsonTable          capability = "JSON_TABLE"
	strictSurrogates   capability = "JSON without halves of surrogate pairs"
	changeOfResolution capability = "defaults and a CHECK that hold the resolution"
	readPlans          capability = "EXPLAIN and counters of what was read, as these tests read them"
	threadStates       capability = "the list of threads with what they do, and a SLEEP that can be killed"
	zoneTables         capability = "tables of time zones to add one to"
	heldPurge          capability = "a purge that open snapshots hold back"
	waitingDDL         capability = "DDL that waits for those who have a table open, and says so"
)

// needs skips a test where its server lacks something; what is empty where there is nothing.
func (r *rig) needs(t *testing.T, what capability) {
	t.Helper()
	skipWithout(t, r.server, what)
}

func (i installation) needs(what capability) {
	i.t.Helper()
	needs(i.t, i.db, what)
}

func needs(t *testing.T, db *sql.DB, what capability) {
	t.Helper()
	server, err := text.ServerOf(t.Context(), db)
	fatal(t, err)
	skipWithout(t, server, what)
}

func skipWithout(t *testing.T, server text.Server, what capability) {
	t.Helper()
	if server == text.TiDB && what != "" {
		t.Skipf("TiDB lacks %s", what)
	}
}
