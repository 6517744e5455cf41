package rig

import (
	"database/sql"
	"slices"
	"testing"

	text "prescient/sql"
)

// Capability is something of SQL that a test cannot do without, and that the dialect plain, TiDB or Vitess does not have. What the
// library makes of it there stands in the README.
type Capability string

// What the dialect plain lacks.
const (
	ColumnDefaults     Capability = "expressions as defaults, and CHECKs: a plain INSERT"
	StoredProcedures   Capability = "stored procedures"
	JSONTable          Capability = "JSON_TABLE"
	SkipLocked         Capability = "SKIP LOCKED"
	ChangeOfResolution Capability = "defaults and a CHECK that hold the resolution"
)

// What TiDB lacks, whatever its dialect.
const (
	AllIsolationLevels Capability = "READ UNCOMMITTED and SERIALIZABLE"
	StrictSurrogates   Capability = "JSON without halves of surrogate pairs"
	ReadPlans          Capability = "EXPLAIN and counters of what was read, as these tests read them"
	ThreadStates       Capability = "the list of threads with what they do, and a SLEEP that can be killed"
	ZoneTables         Capability = "tables of time zones to add one to"
	Triggers           Capability = "triggers, and CHECKs that it heeds"
	HeldPurge          Capability = "a purge that open snapshots hold back"
	WaitingDDL         Capability = "DDL that waits for those who have a table open, and says so"
)

// What Vitess lacks, whatever its dialect.
const (
	Accounts    Capability = "accounts of its own, with the rights of a role"
	AllSettings Capability = "all character sets and settings of a session"
	Sessions    Capability = "a look at the sessions of its servers, and KILL"
	StillClocks Capability = "a clock that stands still for a session by its DSN" // which one has that is targeted at a shard, as for the next
	OnePool     Capability = "one pool for workers and operators: each shard has its own"
)

var (
	lackedInPlain  = []Capability{ColumnDefaults, StoredProcedures, JSONTable, SkipLocked, ChangeOfResolution}
	hadByTiDB      = []Capability{Accounts, AllSettings, Sessions, StillClocks, OnePool}
	lackedOnVitess = []Capability{StoredProcedures, Accounts, AllSettings, Sessions, ReadPlans}
)

// Needs skips a test where its server or its dialect lacks something; what is empty where there is nothing.
func (r *Rig) Needs(t *testing.T, what Capability) {
	t.Helper()
	skipWithout(t, r.Server, r.Dialect, what)
}

// Needs is Rig.needs for a database that has no rig.
func Needs(t *testing.T, db *sql.DB, what Capability) {
	t.Helper()
	server, dialect, err := Dialect().Choose(t.Context(), db)
	Fatal(t, err)
	skipWithout(t, server, dialect, what)
}

func skipWithout(t *testing.T, server text.Server, dialect text.Dialect, what Capability) {
	t.Helper()
	switch {
	case dialect == text.Plain && slices.Contains(lackedInPlain, what):
		t.Skipf("the dialect plain lacks %s", what)
	case server == text.TiDB && what != "" && !slices.Contains(hadByTiDB, what):
		t.Skipf("TiDB lacks %s", what)
	case server.Placed() && (slices.Contains(lackedOnVitess, what) || server == text.Vitess && (what == StillClocks || what == OnePool)):
		t.Skipf("Vitess lacks %s", what)
	}
}
