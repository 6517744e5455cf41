package migrate

import (
	"errors"
	"time"

	text "prescient/sql"
)

// Schema says which tables to make.
type Schema struct {
	// Prefix of the table names; two installations can share a database under two prefixes. Empty by default.
	Prefix string
	// Resolution of the slots, in whole seconds; it divides a day. Defaults and checks of the tables are made for it.
	Resolution time.Duration
	// Dialect in which the tables are made and looked at. Up, Down, Repair and Damages take a setting, and find out what it
	// comes to on the server; the others take Full or Plain, and Full where none is given.
	Dialect text.Dialect
	// Server is whose tables; whoever migrates need not say it.
	Server text.Server
	// Set is which migrations there are: those of this program by default.
	Set *Set
	// Patience is how long Up, Down and Repair try again while somebody has a table open; DefaultPatience by default.
	Patience time.Duration
	// Watch, where given, is told of each try that waited in vain for a table that somebody has open.
	Watch Watcher
}

// ErrResolution is returned when tables cannot be made for a resolution, or are there for another.
var ErrResolution = errors.New("resolution not allowed")
