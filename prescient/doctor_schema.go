package prescient

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	text "prescient/sql"
)

func (d *doctor) checkResolution(context.Context) (found []Finding, err error) {
	stored := d.grid.Resolution()
	if d.goesTo != 0 {
		found = append(found, bad("reslot", fmt.Sprintf("the resolution is being changed from %s to %s: nothing runs meanwhile", stored, d.goesTo),
			"wait for it; or, if it was interrupted, run reslot again"))
	}
	if configured := d.options.Resolution; configured != 0 && configured != stored {
		found = append(found, bad("resolution", fmt.Sprintf("configured is %s, but %sslot_config has %s: workers and clients refuse to start", configured, d.prefix, stored),
			"set slots.resolution in the configuration; or change that of the tables with reslot"))
	}
	return orFine(found, "resolution", fmt.Sprintf("slots are %s apart", stored)), nil
}

// checkVersion compares the schema version with what this program knows; an earlier one has ended the look before.
func (d *doctor) checkVersion(context.Context) ([]Finding, error) {
	known, err := text.Version()
	if err != nil {
		return nil, err
	}
	if d.schema > known {
		return []Finding{warn("version", fmt.Sprintf("the tables have schema version %d, this program knows %d: it works, and does nothing with what is new", d.schema, known),
			"bring this program up to the version that migrated")}, nil
	}
	return []Finding{fine("version", fmt.Sprintf("the schema version is %d, that of this program", known))}, nil
}

// checkSchema compares the tables with what the migrations make of them.
func (d *doctor) checkSchema(ctx context.Context) (found []Finding, err error) {
	expected, err := text.Schema{Prefix: d.prefix, Resolution: d.grid.Resolution(), Server: d.server}.Expected()
	if err != nil {
		return nil, err
	}
	columns, err := d.names(ctx, "operate/columns")
	if err != nil {
		return nil, err
	}
	indexes, err := d.names(ctx, "operate/indexes")
	if err != nil {
		return nil, err
	}
	var hidden []string
	for _, table := range expected {
		if columns[table.Name] == nil && d.isHidden(ctx, table.Name) {
			hidden = append(hidden, table.Name)
			continue
		}
		if columns[table.Name] == nil {
			found = append(found, bad("schema.table", "table "+table.Name+" is missing", "run migrate; if that finds nothing to do, it was dropped: restore it"))
			continue
		}
		constraints, err := d.constraints(ctx, table)
		if err != nil {
			return found, err
		}
		for what, missing := range map[string][]string{
			"column": without(table.Columns, columns[table.Name]),
			"index":  without(table.Indexes, indexes[table.Name]),
			"check":  without(table.Checks, slices.Collect(maps.Keys(constraints))),
		} {
			if len(missing) > 0 {
				found = append(found, bad("schema."+what, fmt.Sprintf("%s lacks the %s %s", table.Name, what, strings.Join(missing, ", ")),
					"run migrate; if that finds nothing to do, add it as the migrations have it"))
			}
		}
	}
	if more, err := d.checkDefaults(ctx); err != nil {
		return found, err
	} else if len(found) == 0 {
		found = more
	}
	slices.SortFunc(found, func(a, b Finding) int { return strings.Compare(a.Code+a.Text, b.Code+b.Text) })
	all := "tables, columns, indexes, defaults and checks are as the migrations make them"
	if len(hidden) > 0 {
		all += "; this user cannot see " + strings.Join(hidden, ", ")
	}
	return orFine(found, "schema", all), nil
}

// isHidden says whether the user has no right on a table, so that it cannot be told whether it is there.
func (d *doctor) isHidden(ctx context.Context, table string) bool {
	_, err := d.db.ExecContext(ctx, "SELECT 1 FROM "+table+" WHERE 1 = 0")
	return isError(err, errTableDenied)
}

// constraint is a line of SHOW CREATE TABLE.
var constraint = regexp.MustCompile("(?m)^\\s*CONSTRAINT [`\"]?(\\w+)[`\"]? CHECK (.*)$")

// constraints reads the CHECKs of a table that is to have some, by their names.
func (d *doctor) constraints(ctx context.Context, table text.Table) (map[string]string, error) {
	if len(table.Checks) == 0 {
		return nil, nil
	}
	var name, create string
	if err := queryRow(ctx, d.db, []any{&name, &create}, d.fill("operate/checks", "{table}", table.Name)); err != nil {
		return nil, fmt.Errorf("reading the constraints of %s: %w", table.Name, err)
	}
	all := make(map[string]string)
	for _, found := range constraint.FindAllStringSubmatch(create, -1) {
		all[found[1]] = found[2]
	}
	return all, nil
}

// names reads pairs of a table and something of it.
func (d *doctor) names(ctx context.Context, statement string) (map[string][]string, error) {
	rows, err := d.db.QueryContext(ctx, d.stmt.Get(statement), strings.ReplaceAll(d.prefix, "_", `\_`)+"%")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	all := make(map[string][]string)
	for rows.Next() {
		var table, name string
		if err := rows.Scan(&table, &name); err != nil {
			return nil, err
		}
		all[table] = append(all[table], name)
	}
	return all, rows.Err()
}

func without(want, have []string) (missing []string) {
	for _, name := range want {
		if !slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, name) }) {
			missing = append(missing, name)
		}
	}
	return missing
}

// defaults are the columns that a plain INSERT leaves to the server, and words of the expressions that fill them.
var defaults = map[string]string{"job_key": "sha2", "first_check_at": "timestampdiff", "next_check_at": "first_check_at",
	"revision": "uuid_short", "inserted_at": "utc_timestamp"}

func (d *doctor) checkDefaults(ctx context.Context) (found []Finding, err error) {
	if d.server == text.TiDB { // whose tables have none, so that it refuses plain INSERTs
		return nil, nil
	}
	have, err := d.names(ctx, "operate/defaults")
	if err != nil {
		return nil, err
	}
	for column, word := range defaults {
		if list := have[column]; len(list) == 0 || !strings.Contains(strings.ToLower(list[0]), word) {
			found = append(found, bad("schema.default", fmt.Sprintf("%sfuture_job.%s has no default, or another than the migrations give it: plain INSERTs fail, or go wrong", d.prefix, column),
				"give it the default that the migrations have"))
		}
	}
	is, err := d.readGridOfTable(ctx, d.db)
	if err != nil {
		return found, err
	}
	onGrid := d.prefix + "future_job_on_grid"
	has, err := d.constraints(ctx, text.Table{Name: d.prefix + "future_job", Checks: []string{onGrid}})
	if err != nil {
		return found, err
	}
	is.checked = readTableGrid("", has[onGrid]).checked
	stored := d.grid.Resolution()
	if d.goesTo == 0 && is != (tableGrid{checked: stored, filled: stored}) {
		found = append(found, bad("schema.grid", fmt.Sprintf("%sslot_config has slots of %s, but in %sfuture_job the default has %s and the check %s",
			d.prefix, stored, d.prefix, orNone(is.filled), orNone(is.checked)), fmt.Sprintf("run reslot --resolution %s, which repairs both", stored)))
	}
	return found, nil
}

func orNone(resolution time.Duration) string {
	if resolution == 0 {
		return "none"
	}
	return resolution.String()
}

// partitionAhead is how far ahead the partitions of history should reach: with a week to go, nobody has pruned for seven.
const partitionAhead = PartitionSpan

func (d *doctor) checkPartitions(ctx context.Context) ([]Finding, error) {
	var bounds []string
	if err := d.db.SelectContext(ctx, &bounds, d.stmt.Get("operate/partitions"), d.prefix+"job_history"); err != nil {
		return nil, err
	}
	return partitionFindings(bounds, d.now), nil
}

// partitionFindings judges the upper bounds of the partitions of history.
func partitionFindings(bounds []string, now time.Time) []Finding {
	const do = "run prune, or migrate, which make partitions ahead"
	var last time.Time
	unbounded := false
	for _, bound := range bounds {
		if unbounded = unbounded || strings.Contains(bound, "MAXVALUE"); strings.Contains(bound, "MAXVALUE") {
			continue
		}
		if t, err := parseTime(strings.Trim(bound, "'")); err == nil {
			last = later(last, t)
		}
	}
	switch {
	case len(bounds) == 0:
		return []Finding{warn("partitions", "history is not partitioned: old ends leave by DELETE only", do)}
	case !unbounded:
		return []Finding{bad("partitions", "history has no partition without an upper bound: ends after "+stamp(last)+" are refused, and their rows run again and again",
			"add a partition VALUES LESS THAN (MAXVALUE)")}
	case last.IsZero():
		return []Finding{warn("partitions", "history has one partition only, so that old ends cannot be dropped", do)}
	case last.Before(now):
		return []Finding{warn("partitions", "the partitions of history ended at "+stamp(last)+": ends since then gather in the last one", do)}
	case last.Before(now.Add(partitionAhead)):
		return []Finding{warn("partitions", "the partitions of history end at "+stamp(last)+", which is soon", do)}
	}
	return []Finding{fine("partitions", fmt.Sprintf("history has %d partitions, up to %s", len(bounds), stamp(last)))}
}
