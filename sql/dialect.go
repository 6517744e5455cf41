package sql

import (
	"context"
	"errors"
	"fmt"
)

// Dialect says which statements are sent, and which objects the migrations make.
//
// Full is for MySQL and MariaDB. Plain is for servers that speak their language and lack a part of it, such as TiDB and
// Vitess: it has no JSON_TABLE, no procedure, no expression as a DEFAULT, no CHECK and no SKIP LOCKED. In it only the client
// and the command fill in what a plain INSERT leaves out; apps in other languages send the statements of folder plain.
//
// In Plain a statement has NOWAIT in the place of SKIP LOCKED, for which TiDB takes no lock: what somebody else has locked is refused at
// once, and not left out. For all else that differs see [Dialect.Read].
//
// Vitess parses statements, and prints them anew for its MySQL: of DELETE a FROM t a FORCE INDEX (i) it leaves out the first a where the session
// is targeted at a shard, and no server takes that. With its table in parentheses it arrives as it was, so it is spelled like that in Full. In
// Plain it is not: untargeted, Vitess drops the hint, but for one in parentheses, of which it makes the same.
//
// Either works on the tables of the other, where the server can do what it asks for: clients and workers in Plain on tables
// that were made in Full, which still hold plain SQL to their CHECKs, and those in Full on plain tables. So nobody has to ask
// the tables in which they were made.
type Dialect string

// The dialects. A setting takes Auto or Plain; what is set to nothing is Auto.
const (
	Auto  Dialect = "auto" // what the server can do: Plain on TiDB and Vitess, Full on the others and on a shard of Vitess
	Full  Dialect = "full"
	Plain Dialect = "plain"
)

// ErrDialect is returned for a setting that is no dialect.
var ErrDialect = errors.New("no such dialect")

// Check returns an error that wraps ErrDialect for what a setting cannot be.
func (d Dialect) Check() error {
	switch d {
	case "", Auto, Plain:
		return nil
	}
	return fmt.Errorf("%w: %.80q: %s and %s are there", ErrDialect, string(d), Auto, Plain)
}

// On is the dialect that a setting comes to on a server: Full or Plain.
func (d Dialect) On(server Server) Dialect {
	if d == Plain || server == TiDB || server == Vitess {
		return Plain
	}
	return Full
}

// Choose asks a server what it is, and says which dialect it is spoken to in. The error wraps ErrDialect where the setting
// is none.
func (d Dialect) Choose(ctx context.Context, db Querier) (Server, Dialect, error) {
	if err := d.Check(); err != nil {
		return MySQL, Full, err
	}
	server, err := ServerOf(ctx, db)
	return server, d.On(server), err
}
