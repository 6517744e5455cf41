package cmd_test

import "prescient/sql"

// needs skips a test where its server is TiDB, which lacks something.
func (r *rig) needs(what string) {
	r.Helper()
	server, err := sql.ServerOf(r.Context(), r.db)
	r.must(err)
	if server == sql.TiDB {
		r.Skipf("TiDB lacks %s", what)
	}
}

const (
	columnDefaults     = "expressions as defaults: a plain INSERT"
	waitingDDL         = "DDL that waits for those who have a table open"
	changeOfResolution = "defaults and a CHECK that hold the resolution"
)
