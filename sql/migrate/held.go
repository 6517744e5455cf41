package migrate

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	text "prescient/sql"
)

// ErrHeld is returned when a table could not be altered since somebody had it open all the time, or rows were locked.
var ErrHeld = errors.New("a table is held open")

// HeldError says who had a table open, or may have rows locked. It wraps ErrHeld.
type HeldError struct {
	// Of is the table, view or procedure; empty where the statement does not tell.
	Of string
	// Rows says that a statement waited for rows: By are those who have any table of the installation open in a transaction.
	Rows bool
	// By are those who have it open; where Open, whoever has a transaction open, among them those.
	By   []Holder
	Open bool
	// Lacks are the rights without which this account may not see more; empty where it lacks none.
	Lacks  string
	nobody bool // it could see all, and nobody has it open
	// Tried is for how long.
	Tried time.Duration
	// Err is the server's.
	Err error
}

// Holder is a connection that has a table open.
type Holder struct {
	ID      int64  `db:"id" json:"id"`
	User    string `db:"user" json:"user"`
	Host    string `db:"host" json:"host"`
	Command string `db:"command" json:"command"`
	State   string `db:"state" json:"state,omitempty"`
	// Seconds is how long its transaction is open, or, without one, how long it has been doing that.
	Seconds int64 `db:"seconds" json:"seconds"`
}

// String names the connection, and what it does.
func (h Holder) String() string {
	doing := h.Command
	if h.State != "" {
		doing += ", " + h.State
	}
	return fmt.Sprintf("connection %d of %s@%s (%s) for %d s", h.ID, h.User, h.Host, doing, h.Seconds)
}

func (e *HeldError) Error() string {
	if e.Rows {
		return fmt.Sprintf("%v (%s)", e.Err, e.Who())
	}
	of := e.Of
	if of == "" {
		of = "a table"
	}
	return fmt.Sprintf("%s is held open: %s: %v", of, e.Who(), e.Err)
}

// Who says who has it open, as far as can be seen, and for how long it was tried.
func (e *HeldError) Who() string {
	if e.Rows {
		return "somebody has rows locked; " + e.holders()
	}
	return fmt.Sprintf("%s (tried for %s)", e.holders(), e.Tried)
}

func (e *HeldError) holders() string {
	var names []string
	for _, h := range e.By {
		names = append(names, h.String())
	}
	by := strings.Join(names, ", ")
	switch {
	case by == "" && e.Lacks != "":
		return "this account may not see by whom without " + e.Lacks
	case by == "":
		return "the server does not say by whom"
	case e.Open && e.Lacks != "":
		return "without " + e.Lacks + " this account sees open transactions only: " + by
	case e.Open:
		return "the server says which transactions are open, and not which of them has it: " + by
	case e.Rows:
		return "open on these tables is " + by
	}
	return "by " + by
}

// Unwrap has errors.Is find ErrHeld, and the server's error.
func (e *HeldError) Unwrap() []error { return []error{ErrHeld, e.Err} }

// Watcher is told who holds up a change of tables.
type Watcher interface{ Held(by *HeldError) }

// changed finds what a statement changes.
var changed = regexp.MustCompile("(?is)^\\s*(?:ALTER|DROP|CREATE|UPDATE|INSERT|DELETE)\\b[^(;]*?\\b(?:TABLE|VIEW|PROCEDURE|ON|INTO|FROM|UPDATE)\\s+" +
	"(?:IF\\s+(?:NOT\\s+)?EXISTS\\s+)?(`?\\w+`?(?:\\s*,\\s*`?\\w+`?)*)")

// changes returns the names of what a statement changes.
func changes(statement string) (names []string) {
	found := changed.FindStringSubmatch(statement)
	if found == nil {
		return nil
	}
	for name := range strings.SplitSeq(found[1], ",") {
		names = append(names, strings.Trim(strings.TrimSpace(name), "`"))
	}
	return names
}

// lookTime bounds the look for who has a table open.
const lookTime = 5 * time.Second

// whoHolds asks who has some tables, views or procedures open. It is not broken off: the server would go on with what it was asked.
func whoHolds(ctx context.Context, db text.Querier, names []string) *HeldError {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookTime)
	defer cancel()
	held := &HeldError{}
	quoted := []string{"''"}
	for _, name := range names {
		quoted = append(quoted, "'"+name+"'")
	}
	var lacks []string
	held.nobody = true
	for i, one := range []struct{ name, right string }{
		{"operate/holders", "SELECT ON performance_schema.*"}, {"operate/open_transactions", "PROCESS ON *.*"},
	} {
		list, err := holders(ctx, db, one.name, strings.Join(quoted, ", "))
		if refused(err, errTableDenied, errDatabaseDenied, errAccessDenied) {
			lacks = append(lacks, one.right)
		}
		held.nobody = held.nobody && err == nil && len(list) == 0
		if len(list) > 0 {
			held.By, held.Open = list, i > 0
			break
		}
	}
	held.Lacks = strings.Join(lacks, " and ")
	return held
}

// holders runs one of the statements that answer with connections.
func holders(ctx context.Context, db text.Querier, name, names string) (list []Holder, err error) {
	statements, err := text.Load("")
	if err != nil {
		return nil, err
	}
	rows, err := db.QueryContext(ctx, strings.ReplaceAll(statements.Get(name), "{names}", names))
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var h Holder
		if err := rows.Scan(&h.ID, &h.User, &h.Host, &h.Command, &h.State, &h.Seconds); err != nil {
			return nil, err
		}
		list = append(list, h)
	}
	return list, rows.Err()
}
