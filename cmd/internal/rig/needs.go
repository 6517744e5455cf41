package rig

import (
	"prescient/sql"
)

// Needs skips a test where its server is TiDB, which lacks something.
func (r *Rig) Needs(what string) {
	r.Helper()
	server, err := sql.ServerOf(r.Context(), r.DB)
	r.Must(err)
	if server == sql.TiDB {
		r.Skipf("TiDB lacks %s", what)
	}
}

const (
	ColumnDefaults     = "expressions as defaults: a plain INSERT"
	WaitingDDL         = "DDL that waits for those who have a table open"
	ChangeOfResolution = "defaults and a CHECK that hold the resolution"
)
