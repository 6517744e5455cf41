package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"prescient/prescient/internal/store"
	"prescient/slots"
	text "prescient/sql"
	"prescient/sql/migrate"
)

func (d *doctor) examineResolution(context.Context) (found []Finding, err error) {
	stored := d.tables.Grid.Resolution()
	if d.goesTo != 0 {
		found = append(found, bad("reslot", fmt.Sprintf("The resolution is being changed from %s to %s, and nothing runs meanwhile.", stored, d.goesTo),
			fmt.Sprintf("Wait for the reslot to end. If it was interrupted, run `reslot --resolution %s`.", d.goesTo)))
	}
	if configured := d.options.Resolution; configured != 0 && configured != stored {
		found = append(found, bad("resolution", fmt.Sprintf("The configuration has slots of %s, but %sslot_config has %s. Workers and clients refuse to start.", configured, d.tables.Prefix, stored),
			fmt.Sprintf("Set slots.resolution to %s in the configuration, or change the tables: `reslot --resolution %s`.", stored, configured)))
	}
	return orFine(found, "resolution", fmt.Sprintf("slots are %s apart", stored)), nil
}

// examineVersion compares the schema version with what this program knows; an earlier one has ended the look before.
func (d *doctor) examineVersion(context.Context) ([]Finding, error) {
	if d.schema > text.SchemaVersion {
		return []Finding{warn("version", fmt.Sprintf("The tables have schema version %d, and this program knows version %d. The program works, but leaves out what is new.", d.schema, text.SchemaVersion),
			"Upgrade this program to the version that migrated the tables.")}, nil
	}
	return []Finding{fine("version", fmt.Sprintf("The schema has version %d, as this program has.", text.SchemaVersion))}, nil
}

// examineSchema compares tables, views and procedures with what the migrations make of them.
func (d *doctor) examineSchema(ctx context.Context) (found []Finding, err error) {
	schema := migrate.Schema{Prefix: d.tables.Prefix, Resolution: d.tables.Grid.Resolution(), Server: d.tables.Server, Dialect: d.tables.Dialect}
	compared, err := schema.Compare(ctx, d.db)
	if err != nil {
		return nil, err
	}
	hidden := slices.Clone(compared.Hidden)
	for _, damage := range compared.Damages {
		if d.seesPartOf(damage.Of) {
			if of := "all columns of " + damage.Of; !slices.Contains(hidden, of) { // the server shows only some
				hidden = append(hidden, of)
			}
			continue
		}
		if d.goesTo != 0 && (strings.HasSuffix(damage.Name, "_on_grid") || damage.Name == "first_check_at") {
			continue // the reslot under way makes them
		}
		found = append(found, damageFinding(damage))
	}
	if !slices.Contains(compared.Hidden, d.tables.Prefix+"future_job") {
		grid, err := d.checkGrid(ctx, schema)
		if err != nil {
			return found, err
		}
		found = append(found, grid...)
	}
	slices.SortFunc(found, func(a, b Finding) int { return strings.Compare(a.Code+a.Text, b.Code+b.Text) })
	all := "tables, columns, indexes, defaults and checks are as the migrations make them; views and procedures are there and answer"
	if d.tables.Dialect == text.Plain {
		all = "tables, columns and indexes are as the migrations make them in the dialect plain; views are there and answer"
	}
	if len(hidden) > 0 && len(found) == 0 {
		return []Finding{part("schema", sentence(all+"; this user cannot see "+strings.Join(hidden, ", ")), "Run `doctor` as owner, who sees all.")}, nil
	}
	return orFine(found, "schema", all), nil
}

// damageFinding says what is damaged and which command mends it, with the statements that it sends.
func damageFinding(damage migrate.Damage) Finding {
	do := "Run `migrate --repair`, which sends: " + brief(damage.DDL)
	if damage.Lost != "" {
		do = damage.Lost
		if len(damage.DDL) > 0 {
			do += ": " + brief(damage.DDL)
		}
	}
	f := bad("schema."+damage.Kind, damage.Text, do)
	f.DDL = damage.DDL
	return f
}

// brief is the beginning of statements, on one line.
func brief(statements []string) string {
	const most = 160
	var all []string
	for _, statement := range statements {
		if short := []rune(strings.Join(strings.Fields(statement), " ")); len(short) > most {
			statement = string(short[:most]) + " …"
		} else {
			statement = string(short)
		}
		all = append(all, statement)
	}
	return strings.Join(all, "; ")
}

// checkGrid compares the resolution of slot_config with that of DEFAULT and CHECK, where these are there.
func (d *doctor) checkGrid(ctx context.Context, schema migrate.Schema) ([]Finding, error) {
	if d.tables.Dialect == text.Plain || d.goesTo != 0 { // plain tables have none of these
		return nil, nil
	}
	if !d.mayUse("SELECT", "slot_config") && !d.mayUse("SELECT", "future_job") { // see readResolution
		return nil, nil
	}
	is, err := d.tables.ReadGridOfTable(ctx, d.db)
	if err != nil {
		return nil, err
	}
	has, err := schema.Checks(ctx, d.db, d.tables.Prefix+"future_job")
	if err != nil {
		return nil, err
	}
	is.Checked = store.ReadTableGrid("", has[d.tables.Prefix+"future_job_on_grid"]).Checked
	stored := d.tables.Grid.Resolution()
	if (is.Checked == 0 || is.Checked == stored) && (is.Filled == 0 || is.Filled == stored) {
		return nil, nil
	}
	return []Finding{bad("schema.grid", fmt.Sprintf("%sslot_config has slots of %s, but in %sfuture_job the default has %s and the check %s.",
		d.tables.Prefix, stored, d.tables.Prefix, orNone(is.Filled), orNone(is.Checked)), fmt.Sprintf("Run `reslot --resolution %s`, which repairs both.", stored))}, nil
}

func orNone(resolution time.Duration) string {
	if resolution == 0 {
		return "none"
	}
	return resolution.String()
}

func (d *doctor) examinePartitions(ctx context.Context) ([]Finding, error) {
	if !d.mayUse("", "job_history") {
		return []Finding{d.unseen("partitions", []string{"job_history"})}, nil
	}
	var bounds []string
	if err := d.db.SelectContext(ctx, &bounds, d.tables.Stmt.Get("operate/partitions"), d.tables.Prefix+"job_history"); err != nil {
		return nil, err
	}
	return partitionFindings(bounds, d.now, d.options.PartitionsAhead), nil
}

// partitionFindings judges the upper bounds of the partitions of history. With a week to go, the default for ahead, nobody
// has pruned for seven.
func partitionFindings(bounds []string, now time.Time, ahead time.Duration) []Finding {
	const do = "Run `prune` or `migrate`: both make partitions ahead."
	var last time.Time
	unbounded := false
	for _, bound := range bounds {
		if unbounded = unbounded || strings.Contains(bound, "MAXVALUE"); strings.Contains(bound, "MAXVALUE") {
			continue
		}
		if t, err := store.ParseTime(strings.Trim(bound, "'")); err == nil {
			last = slots.Later(last, t)
		}
	}
	switch {
	case len(bounds) == 0:
		return []Finding{warn("partitions", "History is not partitioned, so that old ends leave by DELETE only.", do)}
	case !unbounded:
		return []Finding{bad("partitions", "History has no partition without an upper bound. The server refuses ends after "+slots.Stamp(last)+", and their checks run again and again.",
			"Add a partition VALUES LESS THAN (MAXVALUE).")}
	case last.IsZero():
		return []Finding{warn("partitions", "History has one partition only, so that old ends cannot be dropped.", do)}
	case last.Before(now):
		return []Finding{warn("partitions", "The partitions of history ended at "+slots.Stamp(last)+". Ends since then gather in the last partition.", do)}
	case last.Before(now.Add(ahead)):
		return []Finding{warn("partitions", "The partitions of history end at "+slots.Stamp(last)+", which is soon.", do)}
	}
	return []Finding{fine("partitions", fmt.Sprintf("History has %d partitions, up to %s.", len(bounds), slots.Stamp(last)))}
}
