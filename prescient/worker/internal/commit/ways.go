package commit

import (
	"prescient/prescient/internal/store"
	"prescient/prescient/worker/internal/check"
	text "prescient/sql"
)

// Lock is how a commit locks its rows.
type Lock uint8

const (
	// ByRanges locks all rows that follow one another by one condition, and fails where it meets a lock.
	ByRanges Lock = iota
	// ByKeys locks each row by its primary key, and passes over those that somebody else has locked.
	ByKeys
	// FreeInUnique is ByKeys, and passes over the rows whose entries in UNIQUE (job_key) somebody else has locked, too.
	FreeInUnique
)

// history is how an end is written to history.
type history uint8

const (
	asValues    history = iota // the worker sends it, with others
	copiedRow                  // the server copies it from the row
	copiedRange                // the server copies it with the others of a range that were done in the same call
	copiedEach                 // the server copies it with others, and the worker sends what differs
)

// historyOf is how the end of a row is written; inRange says that it is one of a range that can be copied, and each that those which cannot are, too.
func historyOf(a *check.Answered, inRange, each bool) history {
	switch {
	case inRange:
		return copiedRange
	case a.Copied():
		return copiedRow
	case each:
		return copiedEach
	}
	return asValues
}

// copiesEach says whether ends are written by copiedEach in place of asValues.
func copiesEach(tables *store.Tables) bool {
	return tables.Server == text.VitessShard && tables.Dialect == text.Full
}

// moveBy is how rows are moved. On MariaDB a move also locks the row after its own in UNIQUE (job_key), which an app may just be inserting;
// MySQL does not.
type moveBy uint8

const (
	together moveBy = 1 << iota // all rows by one statement
	each                        // each row by its own
	atOnce                      // with either: it fails where it would wait; another try, or smaller ones, cost less
)

// movesOf is how rows are moved on a server, by somebody who may wait for the locks of others or not.
func movesOf(tables *store.Tables, mayWait bool) moveBy {
	how := together
	if tables.Dialect == text.Plain {
		how = each
	}
	if tables.Server == text.MariaDB && !mayWait {
		how |= atOnce
	}
	return how
}
