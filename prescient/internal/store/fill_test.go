package store

import (
	"testing"

	text "prescient/sql"
)

// TiDB refuses to share a lock; a text of somebody's that says so stays what it is.
func TestALockThatIsSharedIsOneToChangeOnTiDB(t *testing.T) {
	for server, want := range map[text.Server]string{text.TiDB: ToChange, text.MySQL: Shared} {
		tables := Tables{Server: server, Stmt: text.Statements{"one": "SELECT {text} {lock}"}}
		if got := tables.Fill("one", "{text}", "'"+Shared+"'", "{lock}", Shared); got != "SELECT '"+Shared+"' "+want {
			t.Errorf("on %s: %s", server, got)
		}
	}
}
