package schedules

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"prescient/scripts/bench/internal/rig"
)

// byHand writes the rows of schedules by plain SQL, as somebody would who knows the tables: those that the library wrote for one, with another id and
// owner. What the tables fill in is left to them. It looks at nothing, so that a schedule that is there already, or was deleted a moment ago, is an
// error, or fires twice.
type byHand struct{ inserts []string }

// ofHand are the tables, with what finds the rows of a schedule, and the columns that are left to the server, or computed anew.
var ofHand = []struct {
	table, where string
	filled       []string
	computed     map[string]string
}{
	{table: "schedule", where: "id = ?", filled: []string{"place"}},
	{table: "future_job", where: "entity_key = ?", filled: []string{"job_key", "first_check_at", "next_check_at", "revision", "inserted_at"}},
	{table: "audit_log", where: "id = ?", filled: []string{"at", "account", "entry", "place"},
		computed: map[string]string{"stream": "SUBSTRING(UNHEX(SHA2(CONCAT(%s, UNHEX('00'), %s), 256)), 1, 16)"}},
}

// patternID and patternOwner are the id and the owner of the schedule whose rows are copied.
const patternID, patternOwner = "reminder-PATTERN", "owner-PATTERN"

// learn takes the rows of the schedule with the pattern's id, which the library has made.
func learn(ctx context.Context, p *rig.Place) (*byHand, error) {
	h := new(byHand)
	for _, of := range ofHand {
		columns, values, err := literals(ctx, p, of.table, of.where, patternID)
		if err != nil {
			return nil, err
		}
		for i, column := range columns {
			if form, is := of.computed[column]; is {
				for _, row := range values {
					row[i] = fmt.Sprintf(form, row[slices.Index(columns, "kind")], row[slices.Index(columns, "id")])
				}
			}
		}
		var lists []string
		for _, row := range values {
			lists = append(lists, "("+strings.Join(without(row, columns, of.filled), ", ")+")")
		}
		h.inserts = append(h.inserts, fmt.Sprintf("INSERT INTO %s (%s) VALUES %s", of.table, strings.Join(without(columns, columns, of.filled), ", "), strings.Join(lists, ", ")))
	}
	return h, nil
}

// literals reads rows as they are written in a statement.
func literals(ctx context.Context, p *rig.Place, table, where, id string) (columns []string, list [][]string, err error) {
	names, err := p.App.QueryContext(ctx, "SELECT column_name FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ? ORDER BY ordinal_position", table)
	if err != nil {
		return nil, nil, err
	}
	defer names.Close()
	for names.Next() {
		columns = append(columns, "")
		if err := names.Scan(&columns[len(columns)-1]); err != nil {
			return nil, nil, err
		}
	}
	if err := names.Err(); err != nil {
		return nil, nil, err
	}
	rows, err := p.App.QueryContext(ctx, "SELECT CONCAT("+strings.Join(columns, "), CONCAT(")+") FROM "+table+" WHERE "+where, id)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	values, into := make([]sql.NullString, len(columns)), make([]any, len(columns))
	for i := range values {
		into[i] = &values[i]
	}
	for rows.Next() {
		if err := rows.Scan(into...); err != nil {
			return nil, nil, err
		}
		row := make([]string, len(columns))
		for i, value := range values {
			row[i] = "NULL"
			if value.Valid {
				row[i] = "'" + quoted.Replace(value.String) + "'"
			}
		}
		list = append(list, row)
	}
	if len(list) == 0 && rows.Err() == nil {
		return nil, nil, fmt.Errorf("the library wrote nothing into %s", table)
	}
	return columns, list, rows.Err()
}

var quoted = strings.NewReplacer(`\`, `\\`, `'`, `''`, "\x00", `\0`)

// without leaves out those of some columns.
func without(of, columns, out []string) (left []string) {
	for i, one := range of {
		if !slices.Contains(out, columns[i]) {
			left = append(left, one)
		}
	}
	return left
}

// create makes a schedule by its rows, in a transaction.
func (h *byHand) create(ctx context.Context, p *rig.Place, id, owner string) error {
	as := strings.NewReplacer(patternID, id, patternOwner, owner)
	tx, err := p.App.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	for _, insert := range h.inserts {
		if _, err := tx.ExecContext(ctx, as.Replace(insert)); err != nil {
			_ = tx.Rollback()
			return err
		}
	}
	return tx.Commit()
}
