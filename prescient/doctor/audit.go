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
	{audit.Rule, "rule", "name", "one.name = CONVERT(seen.id USING ascii) COLLATE ascii_bin"}, {audit.Step, "step_definition", "name", "one.name = CONVERT(seen.id USING ascii) COLLATE ascii_bin"},
}

// examineAudit looks for entries of the audit that somebody deleted or forged, and for changes of schedules, jobs and steps that have none.
func (l *look) examineAudit(ctx context.Context) {
	var from audit.Place
	_, _ = rand.Read(from[:]) // it never fails
	if odd := namedOddities(l.oddities(ctx, from)); len(odd) > 0 {
		l.say(bad("audit", "Entries of the audit are missing or forged: "+strings.Join(odd, "; ")+".",
			"`audit --kind KIND --id ID` lists the entries and the accounts that wrote them. Compare them with a backup, and see who has the rights of the owner."))
	}
	const latest = "FORCE INDEX (PRIMARY) ORDER BY at DESC, entry DESC"
	behind := "FORCE INDEX (incarnation) WHERE stream > " + from.Literal() + " ORDER BY stream, incarnation, version, pruned"
	looks := []reach{{"%s entries from a random object on", entryProbe, "audit_log", "PRIMARY", "", nil},
		{"the latest %s entries", goneProbe, "audit_log", "PRIMARY", "", nil}}
	for _, of := range audited {
		var versions, gone []faulty
		query := l.tables.Fill("operate/audit_versions", "{kind}", string(of.kind), "{table}", of.table, "{id}", of.key)
		l.query(ctx, l.db.SelectContext, &versions, fmt.Sprintf("comparing the versions of %ss with the audit", of.kind), query, versionProbe, namedSchedules+1)
		for _, some := range []string{latest, behind} {
			var more []faulty
			query = l.tables.Fill("operate/audit_gone", "{kind}", string(of.kind), "{table}", of.table, "{same}", of.same, "{some}", some)
			l.query(ctx, l.db.SelectContext, &more, fmt.Sprintf("looking for %ss that are gone", of.kind), query, goneProbe, namedSchedules+1)
			gone = appendNew(gone, more)
		}
		l.sayOf(versions, warn("audit.versions", capital(fmt.Sprintf("%ss are not as the audit has them", of.kind)),
			fmt.Sprintf("A program from before the audit or plain SQL changed them, or somebody deleted or forged an entry. `audit --kind %s --id ID` lists the entries.", of.kind)))
		l.sayOf(gone, warn("audit.deleted", capital(fmt.Sprintf("%ss are gone without an entry in the audit", of.kind)),
			"A program from before the audit or plain SQL deleted them, or somebody deleted or forged an entry."))
		looks = append(looks, reach{"the first %s " + string(of.kind) + "s", versionProbe, of.table, "PRIMARY", "", nil})
	}
	l.orFine(ctx, "audit", "no version is missing, no object is gone without an entry, and schedules, jobs, steps and rules are as the audit has them", looks...)
}

// namedOddities names a few. Incarnations of one object, of which the same is said, are one.
func namedOddities(odd []audit.Amiss) (list []string) {
	for _, one := range odd {
		what := one.String()
		if slices.Contains(list, what) {
			continue
		}
		if len(list) == namedSchedules || one.Kind == "" { // not all are named
			return append(list, "and more")
		}
		list = append(list, what)
	}
	return list
}

// oddities looks at a part of the audit from a place on, and from the first one where it comes to the end.
func (l *look) oddities(ctx context.Context, from audit.Place) []audit.Amiss {
	log := audit.On(&l.tables)
	found, _, done, err := log.Versions(ctx, l.db, from, entryProbe)
	if err == nil && done {
		var more []audit.Amiss
		more, _, _, err = log.Versions(ctx, l.db, audit.Place{}, entryProbe)
		found = appendNew(found, more) // what comes behind the place was seen
	}
	l.err = err
	return found
}

// appendNew adds those that are not there yet.
func appendNew[T comparable](all, more []T) []T {
	for _, one := range more {
		if !slices.Contains(all, one) {
			all = append(all, one)
		}
	}
	return all
}
