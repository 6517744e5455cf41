package doctor

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"prescient/prescient/audit"
)

// How much examineAudit looks at: entries for gaps, from a random place on, so that one after the other sees all; the first objects of
// each kind and the latest entries.
const (
	gapProbe     = 100_000
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

// examineAudit looks for entries of the audit that somebody deleted, and for changes of schedules, jobs and steps that have none.
func (d *doctor) examineAudit(ctx context.Context) ([]Finding, error) {
	gaps, err := d.gaps(ctx)
	if err != nil {
		return nil, err
	}
	var found []Finding
	if len(gaps) > 0 {
		var list []string
		for _, g := range gaps[:min(len(gaps), namedSchedules)] {
			list = append(list, g.String())
		}
		if len(gaps) > namedSchedules {
			list = append(list, "and more")
		}
		found = append(found, bad("audit", "entries of the audit are missing: "+strings.Join(list, "; "),
			"somebody who may has deleted them: see who has the rights of the owner, and take them from a backup"))
	}
	for _, of := range audited {
		var versions, gone []amiss
		query := d.tables.Fill("operate/audit_versions", "{kind}", string(of.kind), "{table}", of.table, "{id}", of.key)
		if err := d.db.SelectContext(ctx, &versions, query, versionProbe, namedSchedules+1); err != nil {
			return nil, fmt.Errorf("comparing the versions of %ss with the audit: %w", of.kind, err)
		}
		query = d.tables.Fill("operate/audit_gone", "{kind}", string(of.kind), "{table}", of.table, "{same}", of.same)
		if err := d.db.SelectContext(ctx, &gone, query, goneProbe, namedSchedules+1); err != nil {
			return nil, fmt.Errorf("looking for %ss that are gone: %w", of.kind, err)
		}
		if len(versions) > 0 {
			found = append(found, warn("audit.versions", fmt.Sprintf("%ss are not as the audit has them: %s", of.kind, named(versions)),
				fmt.Sprintf("a program from before the audit has changed them, or plain SQL, or their latest entries were deleted: audit --kind %s --id lists what is there", of.kind)))
		}
		if len(gone) > 0 {
			found = append(found, warn("audit.deleted", fmt.Sprintf("%ss are gone without an entry in the audit: %s", of.kind, named(gone)),
				"a program from before the audit has deleted them, or plain SQL, or their latest entries were deleted"))
		}
	}
	return orFine(found, "audit", fmt.Sprintf("no entry is missing among %d from a random object on, and the first %d schedules, jobs and steps are as it has them", gapProbe, versionProbe)), nil
}

// gaps looks at a part of the audit from a random place on, and from the first one where it comes to the end.
func (d *doctor) gaps(ctx context.Context) ([]audit.Gap, error) {
	log := audit.On(&d.tables)
	var from audit.Place
	if _, err := rand.Read(from[:]); err != nil {
		return nil, err
	}
	gaps, _, done, err := log.Gaps(ctx, d.db, from, gapProbe)
	if err != nil || !done {
		return gaps, err
	}
	more, _, _, err := log.Gaps(ctx, d.db, audit.Place{}, gapProbe)
	for _, g := range more {
		if !slices.Contains(gaps, g) { // what comes behind the place was seen
			gaps = append(gaps, g)
		}
	}
	return gaps, err
}
