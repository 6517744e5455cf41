package store

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"prescient/prescient"
)

// TableGrid is the resolution that future_job itself has: that of its CHECK, zero where there is none, and that by
// which its DEFAULT fills in the slot.
type TableGrid struct{ Checked, Filled time.Duration }

var (
	inCheck   = regexp.MustCompile(`(?i)(?:%|\bMOD\b)\s*(\d+)`)
	inDefault = regexp.MustCompile(`(?i)\bDIV\s+(\d+)`)
)

// ReadTableGrid reads it out of the expressions, which each server spells in its own way.
func ReadTableGrid(filled, checked string) TableGrid {
	number := func(pattern *regexp.Regexp, expression string, unit time.Duration) time.Duration {
		found := pattern.FindStringSubmatch(expression)
		if found == nil {
			return 0
		}
		n, _ := strconv.ParseInt(found[1], 10, 64) // digits; too many make a number that no grid has
		return time.Duration(n) * unit
	}
	return TableGrid{Checked: number(inCheck, checked, time.Second), Filled: number(inDefault, filled, time.Microsecond)}
}

// ReadGridOfTable reads the resolution that future_job has.
func (t *Tables) ReadGridOfTable(ctx context.Context, db prescient.DB) (TableGrid, error) {
	expressions := make(map[string]string)
	err := EachRow(ctx, db, func(scan Scan) error {
		var what, expression string
		err := scan(&what, &expression)
		expressions[what] = expression
		return err
	}, t.Stmt.Get("operate/grid"), t.Prefix+"future_job", t.Prefix+"future_job_on_grid")
	if err != nil {
		return TableGrid{}, fmt.Errorf("reading DEFAULT and CHECK of %sfuture_job: %w", t.Prefix, err)
	}
	return ReadTableGrid(expressions["filled"], expressions["checked"]), nil
}

// Leased is a lease of the ledger.
type Leased struct {
	Slot       time.Time `db:"slot"`
	Bucket     int       `db:"bucket"`
	Worker     string    `db:"worker"`
	HeldMicros int64     `db:"held_us"`
}
