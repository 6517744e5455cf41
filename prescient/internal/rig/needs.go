package rig

import (
	"database/sql"
	"testing"

	text "prescient/sql"
)

// Capability is something of SQL that a test cannot do without, and that TiDB does not have. What the library makes of
// it there stands in the README.
type Capability string

const (
	ColumnDefaults     Capability = "expressions as defaults, and CHECKs: a plain INSERT"
	StoredProcedures   Capability = "stored procedures"
	AllIsolationLevels Capability = "READ UNCOMMITTED and SERIALIZABLE"
	JSONTable          Capability = "JSON_TABLE"
	StrictSurrogates   Capability = "JSON without halves of surrogate pairs"
	ChangeOfResolution Capability = "defaults and a CHECK that hold the resolution"
	ReadPlans          Capability = "EXPLAIN and counters of what was read, as these tests read them"
	ThreadStates       Capability = "the list of threads with what they do, and a SLEEP that can be killed"
	ZoneTables         Capability = "tables of time zones to add one to"
	HeldPurge          Capability = "a purge that open snapshots hold back"
	WaitingDDL         Capability = "DDL that waits for those who have a table open, and says so"
)

// Needs skips a test where its server lacks something; what is empty where there is nothing.
func (r *Rig) Needs(t *testing.T, what Capability) {
	t.Helper()
	skipWithout(t, r.Server, what)
}

// Needs is Rig.needs for a database that has no rig.
func Needs(t *testing.T, db *sql.DB, what Capability) {
	t.Helper()
	server, err := text.ServerOf(t.Context(), db)
	Fatal(t, err)
	skipWithout(t, server, what)
}

func skipWithout(t *testing.T, server text.Server, what Capability) {
	t.Helper()
	if server == text.TiDB && what != "" {
		t.Skipf("TiDB lacks %s", what)
	}
}
