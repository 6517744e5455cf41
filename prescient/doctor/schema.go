package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/prescient/shards"
	"prescient/slots"
	text "prescient/sql"
	"prescient/sql/migrate"
)

func (l *look) examineResolution(ctx context.Context) {
	stored := l.tables.Grid.Resolution()
	if l.goesTo != 0 {
		l.say(bad("reslot", fmt.Sprintf("The resolution is being changed from %s to %s, and nothing runs meanwhile.", stored, l.goesTo),
			fmt.Sprintf("Wait for the reslot to end. If it was interrupted, run `reslot --resolution %s`.", l.goesTo)))
	}
	if configured := l.options.Resolution; configured != 0 && configured != stored {
		l.say(bad("resolution", fmt.Sprintf("The configuration has slots of %s, but %sslot_config has %s. Workers and clients refuse to start.", configured, l.tables.Prefix, stored),
			fmt.Sprintf("Set slots.resolution to %s in the configuration, or change the tables: `reslot --resolution %s`.", stored, configured)))
	}
	l.orFine(ctx, "resolution", fmt.Sprintf("slots are %s apart", stored))
}

// examineVersion compares the schema version with what this program knows; an earlier one has ended the look before.
func (l *look) examineVersion(ctx context.Context) {
	if l.schema > text.SchemaVersion {
		l.say(warn("version", fmt.Sprintf("The tables have schema version %d, and this program knows version %d. The program works, but leaves out what is new.", l.schema, text.SchemaVersion),
			"Upgrade this program to the version that migrated the tables."))
	}
	l.orFine(ctx, "version", fmt.Sprintf("the schema has version %d, as this program has", text.SchemaVersion))
}

// examineSchema compares tables, views and procedures with what the migrations make of them.
func (l *look) examineSchema(ctx context.Context) {
	schema := l.schemaOf()
	compared, err := schema.Compare(ctx, l.db)
	hidden := slices.Clone(compared.Hidden)
	for _, damage := range compared.Damages {
		switch of := "all columns of " + damage.Of; {
		case l.seesPartOf(damage.Of): // the server shows only some
			if !slices.Contains(hidden, of) {
				hidden = append(hidden, of)
			}
		case l.goesTo != 0 && (strings.HasSuffix(damage.Name, "_on_grid") || damage.Name == "first_check_at"): // the reslot under way makes them
		default:
			l.say(damageFinding(damage))
		}
	}
	if l.err = err; err == nil && !slices.Contains(compared.Hidden, l.tables.Prefix+"future_job") {
		l.checkGrid(ctx, schema)
	}
	placed := l.checkVSchema(ctx)
	slices.SortFunc(l.found, func(a, b Finding) int { return strings.Compare(a.Code+a.Text, b.Code+b.Text) })
	all := "tables, columns, indexes, defaults and checks are as the migrations make them; views and procedures are there and answer"
	if l.tables.Dialect == text.Plain {
		all = "tables, columns and indexes are as the migrations make them in the dialect plain; views are there and answer"
	}
	all += placed
	if len(hidden) > 0 && len(l.found) == 0 {
		l.say(part("schema", sentence(all+"; this user cannot see "+strings.Join(hidden, ", ")), "Run `doctor` as owner, who sees all."))
	}
	l.orFine(ctx, "schema", all)
}

// checkVSchema compares where rows lie on the shards of Vitess, and says so where it has.
func (l *look) checkVSchema(ctx context.Context) (looked string) {
	if l.err != nil || !l.tables.Server.Placed() {
		return ""
	}
	compared, err := shards.Compare(ctx, l.db, l.tables.Prefix)
	if l.err = err; len(compared.Differences) > 0 {
		l.say(bad("schema.vschema", fmt.Sprintf("In the VSchema of %s %s.", compared.Keyspace, strings.Join(compared.Differences, "; ")),
			fmt.Sprintf("Run `vschema --apply %s` before more rows are written: none is moved.", compared.Keyspace)))
	}
	if compared.Looked {
		return "; the VSchema has all lie where they are to"
	}
	return ""
}

// schemaOf is what the migrations make.
func (d *doctor) schemaOf() migrate.Schema {
	return migrate.Schema{Prefix: d.tables.Prefix, Resolution: d.tables.Grid.Resolution(), Server: d.tables.Server, Dialect: d.tables.Dialect}
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
		all = append(all, prescient.Shorten(strings.Join(strings.Fields(statement), " "), most))
	}
	return strings.Join(all, "; ")
}

// checkGrid compares the resolution of slot_config with that of DEFAULT and CHECK, where these are there.
func (l *look) checkGrid(ctx context.Context, schema migrate.Schema) {
	if l.tables.Dialect == text.Plain || l.goesTo != 0 { // plain tables have none of these
		return
	}
	if !l.mayUse("SELECT", "slot_config") && !l.mayUse("SELECT", "future_job") { // see readResolution
		return
	}
	is, err := l.tables.ReadGridOfTable(ctx, l.db)
	if l.err = err; err != nil {
		return
	}
	has, err := schema.Checks(ctx, l.db, l.tables.Prefix+"future_job")
	if l.err = err; err != nil {
		return
	}
	is.Checked = store.ReadTableGrid("", has[l.tables.Prefix+"future_job_on_grid"]).Checked
	stored := l.tables.Grid.Resolution()
	if (is.Checked == 0 || is.Checked == stored) && (is.Filled == 0 || is.Filled == stored) {
		return
	}
	l.say(bad("schema.grid", fmt.Sprintf("%sslot_config has slots of %s, but in %sfuture_job the default has %s and the check %s.",
		l.tables.Prefix, stored, l.tables.Prefix, orNone(is.Filled), orNone(is.Checked)), fmt.Sprintf("Run `reslot --resolution %s`, which repairs both.", stored)))
}

func orNone(resolution time.Duration) string {
	if resolution == 0 {
		return "none"
	}
	return resolution.String()
}

func (l *look) examinePartitions(ctx context.Context) {
	if !l.mayUse("", "job_history") {
		l.say(l.unseen("partitions", []string{"job_history"}))
		return
	}
	var bounds []string
	l.rows(ctx, &bounds, "operate/partitions", l.tables.Prefix+"job_history")
	l.say(partitionFindings(l.tables.Prefix+"job_history", bounds, l.now, l.options.PartitionsAhead)...)
}

// partitionFindings judges the upper bounds of the partitions of history. With a week to go, the default for ahead, nobody
// has pruned for seven.
func partitionFindings(table string, bounds []string, now time.Time, ahead time.Duration) []Finding {
	const do = "Run `prune` or `migrate`: both make partitions ahead."
	var last time.Time
	unbounded := false
	for _, bound := range bounds {
		if strings.Contains(bound, "MAXVALUE") {
			unbounded = true
		} else if t, err := store.ParseTime(strings.Trim(bound, "'")); err == nil {
			last = slots.Later(last, t)
		}
	}
	switch {
	case len(bounds) == 0:
		return []Finding{warn("partitions", "History is not partitioned, so that old ends leave by DELETE only.", do)}
	case !unbounded:
		return []Finding{bad("partitions", "History has no partition without an upper bound. From "+slots.Stamp(last)+" on the server lets no check end, so that each runs again and again.",
			"Before that, as owner: ALTER TABLE "+table+" ADD PARTITION (PARTITION p_later VALUES LESS THAN (MAXVALUE))")}
	case last.IsZero():
		return []Finding{warn("partitions", "History has one partition only, so that old ends cannot be dropped.", do)}
	case last.Before(now):
		return []Finding{warn("partitions", "The partitions of history ended at "+slots.Stamp(last)+". Ends since then gather in the last partition.", do)}
	case last.Before(now.Add(ahead)):
		return []Finding{warn("partitions", "The partitions of history end at "+slots.Stamp(last)+", which is soon.", do)}
	}
	return []Finding{fine("partitions", fmt.Sprintf("History has %s, up to %s.", counted(len(bounds), "partition", "partitions"), slots.Stamp(last)))}
}
