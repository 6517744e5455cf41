package doctor

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"prescient/prescient/audit"
)

// How much examineAudit looks at: entries from a random place on, so that one after the other sees all; the first objects of each kind and
// the latest entries.
const (
	entryProbe   = 50_000
	versionProbe = 5_000
	goneProbe    = 1_000
)

// audited are the kinds of objects whose versions the audit has.
var audited = []struct {
	kind       audit.Kind
	table, key string
	same       string // condition: one of the table is that of the entry seen
}{
	{audit.Schedule, "schedule", "id", "one.id = seen.id"},
	{audit.Job, "job_definition", "name", "one.name = CONVERT(seen.id USING ascii) COLLATE ascii_bin"},
	{audit.Step, "step_definition", "name", "one.name = CONVERT(seen.id USING ascii) COLLATE ascii_bin"},
}

// examineAudit looks for entries of the audit that somebody deleted or forged, and for changes of schedules, jobs and steps that have none.
func (d *doctor) examineAudit(ctx context.Context) ([]Finding, error) {
	var from audit.Place
	if _, err := rand.Read(from[:]); err != nil {
		return nil, err
	}
	odd, err := d.oddities(ctx, from)
	if err != nil {
		return nil, err
	}
	var found []Finding
	if len(odd) > 0 {
		var list []string
		for _, one := range odd { // incarnations of one object, of which the same is said, are one
			what := one.String()
			if slices.Contains(list, what) {
				continue
			}
			if len(list) == namedSchedules || one.Kind == "" { // not all are named
				list = append(list, "and more")
				break
			}
			list = append(list, what)
		}
		found = append(found, bad("audit", "Entries of the audit are missing or forged: "+strings.Join(list, "; ")+".",
			"`audit --kind KIND --id ID` lists the entries and the accounts that wrote them. For what is missing see a backup, and who has the rights of the owner."))
	}
	const latest = "FORCE INDEX (PRIMARY) ORDER BY at DESC, entry DESC"
	behind := "FORCE INDEX (incarnation) WHERE stream > " + from.Literal() + " ORDER BY stream, incarnation, version, pruned"
	for _, of := range audited {
		var versions, gone []faulty
		query := d.tables.Fill("operate/audit_versions", "{kind}", string(of.kind), "{table}", of.table, "{id}", of.key)
		if err := d.db.SelectContext(ctx, &versions, query, versionProbe, namedSchedules+1); err != nil {
			return nil, fmt.Errorf("comparing the versions of %ss with the audit: %w", of.kind, err)
		}
		for _, some := range []string{latest, behind} {
			var more []faulty
			query = d.tables.Fill("operate/audit_gone", "{kind}", string(of.kind), "{table}", of.table, "{same}", of.same, "{some}", some)
			if err := d.db.SelectContext(ctx, &more, query, goneProbe, namedSchedules+1); err != nil {
				return nil, fmt.Errorf("looking for %ss that are gone: %w", of.kind, err)
			}
			for _, one := range more {
				if !slices.Contains(gone, one) {
					gone = append(gone, one)
				}
			}
		}
		if len(versions) > 0 {
			found = append(found, warn("audit.versions", sentence(fmt.Sprintf("%ss are not as the audit has them: %s", of.kind, named(versions))),
				fmt.Sprintf("A program from before the audit or plain SQL changed them, or somebody deleted or forged an entry. `audit --kind %s --id ID` lists the entries.", of.kind)))
		}
		if len(gone) > 0 {
			found = append(found, warn("audit.deleted", sentence(fmt.Sprintf("%ss are gone without an entry in the audit: %s", of.kind, named(gone))),
				"A program from before the audit or plain SQL deleted them, or somebody deleted or forged an entry."))
		}
	}
	looks := []reach{{"%s entries from a random object on", entryProbe, "audit_log", "PRIMARY", "", nil},
		{"the latest %s entries", goneProbe, "audit_log", "PRIMARY", "", nil}}
	for _, of := range audited {
		looks = append(looks, reach{"the first %s " + string(of.kind) + "s", versionProbe, of.table, "PRIMARY", "", nil})
	}
	parts, err := d.parts(ctx, looks...)
	if err != nil {
		return nil, err
	}
	return orFine(found, "audit", "no version is missing, no object is gone without an entry, and schedules, jobs and steps are as the audit has them", parts...), nil
}

// oddities looks at a part of the audit from a place on, and from the first one where it comes to the end.
func (d *doctor) oddities(ctx context.Context, from audit.Place) ([]audit.Amiss, error) {
	log := audit.On(&d.tables)
	found, _, done, err := log.Versions(ctx, d.db, from, entryProbe)
	if err != nil || !done {
		return found, err
	}
	more, _, _, err := log.Versions(ctx, d.db, audit.Place{}, entryProbe)
	for _, one := range more {
		if !slices.Contains(found, one) { // what comes behind the place was seen
			found = append(found, one)
		}
	}
	return found, err
}
