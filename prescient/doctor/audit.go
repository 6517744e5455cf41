package doctor

import (
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"strings"

	"prescient/prescient/audit"
)

// How much examineAudit looks at: entries for gaps, from a random place on, so that one after the other sees all; the first schedules
// and the latest entries.
const (
	gapProbe     = 100_000
	versionProbe = 5_000
	goneProbe    = 1_000
)

// examineAudit looks for entries of the audit that somebody deleted, and for changes of schedules that have none.
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
	var versions, gone []amiss
	if err := d.db.SelectContext(ctx, &versions, d.tables.Stmt.Get("operate/audit_versions"), versionProbe, namedSchedules+1); err != nil {
		return nil, fmt.Errorf("comparing the versions of schedules with the audit: %w", err)
	}
	if err := d.db.SelectContext(ctx, &gone, d.tables.Stmt.Get("operate/audit_gone"), goneProbe, namedSchedules+1); err != nil {
		return nil, fmt.Errorf("looking for schedules that are gone: %w", err)
	}
	if len(versions) > 0 {
		found = append(found, warn("audit.versions", "schedules are not as the audit has them: "+named(versions),
			"a program from before the audit has changed them, or plain SQL, or their latest entries were deleted: audit --kind schedule --id lists what is there"))
	}
	if len(gone) > 0 {
		found = append(found, warn("audit.deleted", "schedules are gone without an entry in the audit: "+named(gone),
			"a program from before the audit has deleted them, or plain SQL, or their latest entries were deleted"))
	}
	return orFine(found, "audit", fmt.Sprintf("no entry is missing among %d from a random object on, and the first %d schedules are as it has them", gapProbe, versionProbe)), nil
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
