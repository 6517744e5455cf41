package attest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/slots"
)

const (
	// lookBack is how long before a span entries of the audit are read: a change of the resolution may have begun there.
	lookBack = 48 * time.Hour
	// auditPage is how many entries are read at a time, mostTold how many at most of each object: what is before them is not known.
	auditPage = 200
	mostTold  = 10_000
)

// what of the audit explains slots, beside pauses of everything.
var ofInstallation, ofEverything = []string{"prune", "reslot", "reslot-withdrawn"}, []string{audit.Pause, audit.Resume}

// trail is what the audit says of a span.
type trail struct {
	known   known
	changes []change // the earliest first
	pauses  []pause
	unread  int // entries that cannot be read: they explain nothing, and keep all from being proven
}

// readTrail reads the audit. now is the time by the database.
func readTrail(ctx context.Context, log audit.Log, db prescient.DB, from, now time.Time) (t trail, err error) {
	began, err := log.Began(ctx, db)
	if err != nil {
		return t, err
	}
	t.known.raise(now, "the audit does not say since when there are tables")
	if !began.IsZero() {
		t.known = known{began, "before the tables were made"}
	}
	entries, err := t.read(ctx, log, db, audit.Filter{Kind: audit.Installation, ID: audit.InstallationID, Verbs: ofInstallation, Since: from.Add(-lookBack)}, mostTold)
	if err != nil {
		return t, err
	}
	for _, e := range entries {
		if t.take(e) != nil {
			t.unread++
		}
	}
	everything := audit.Filter{Kind: audit.JobExec, ID: prescient.AllExecs, Verbs: ofEverything, Since: from}
	pauses, err := t.read(ctx, log, db, everything, mostTold)
	if err != nil {
		return t, err
	}
	everything.Since, everything.Until = time.Time{}, from
	before, err := t.read(ctx, log, db, everything, 1)
	t.pauses = pausesOf(append(before, pauses...))
	return t, err
}

// read reads so many entries of an object at most, the latest, and returns the earliest of them first. Nothing is known of what came before.
func (t *trail) read(ctx context.Context, log audit.Log, db prescient.DB, filter audit.Filter, most int) (all []audit.Stored, err error) {
	for len(all) < most {
		filter.Limit = min(auditPage, most-len(all))
		page, err := log.List(ctx, db, filter)
		all = append(all, page...)
		var early *audit.SearchedError
		switch {
		case errors.As(err, &early): // between entries of other verbs
			filter.After = early.After
			continue
		case err != nil:
			return nil, err
		case len(page) < filter.Limit:
			slices.Reverse(all)
			return all, nil
		}
		filter.After = page[len(page)-1].Cursor()
	}
	slices.Reverse(all)
	if !filter.Since.IsZero() {
		t.known.raise(all[0].At, fmt.Sprintf("of the audit only the latest %s changes are read", many(int64(most))))
	}
	return all, nil
}

// take takes an entry of the installation; the error says that it cannot be read.
func (t *trail) take(e audit.Stored) error {
	switch e.Verb {
	case "prune":
		var did struct {
			Cutoff      *time.Time `json:"cutoff"`
			AuditCutoff *time.Time `json:"audit_cutoff"`
		}
		if err := json.Unmarshal(e.After, &did); err != nil {
			return err
		}
		if did.Cutoff != nil {
			t.known.raise(*did.Cutoff, "the ledger was pruned")
		}
		if did.AuditCutoff != nil {
			t.known.raise(*did.AuditCutoff, "the audit was pruned")
		}
	case "reslot", "reslot-withdrawn":
		from, err := gridOf(e.Before)
		if err != nil {
			return err
		}
		to, err := gridOf(e.After)
		if err != nil {
			return err
		}
		t.changes = append(t.changes, change{e.At, from, to, e.Verb == "reslot-withdrawn"})
	}
	return nil
}

// gridOf reads the resolution of an entry.
func gridOf(state json.RawMessage) (slots.Grid, error) {
	var is struct {
		Resolution string `json:"resolution"`
	}
	if err := json.Unmarshal(state, &is); err != nil {
		return slots.Grid{}, err
	}
	resolution, err := time.ParseDuration(is.Resolution)
	if err != nil {
		return slots.Grid{}, err
	}
	return slots.NewGrid(resolution)
}

// pausesOf makes pauses of the entries of everything, the earliest first.
func pausesOf(entries []audit.Stored) (all []pause) {
	for _, e := range entries {
		open := len(all) > 0 && all[len(all)-1].until.IsZero()
		switch {
		case e.Verb == audit.Pause && open && len(e.Before) == 0:
			// Nothing was paused any more: plain SQL had ended the pause before, nobody knows when.
			all[len(all)-1] = pause{from: e.At}
		case e.Verb == audit.Pause && !open:
			all = append(all, pause{from: e.At})
		case e.Verb == audit.Resume && open:
			all[len(all)-1].until = e.At
		}
	}
	return all
}

// still takes what job_pause says: since when everything is paused, if it is. A pause whose end has no entry was ended by plain SQL; nobody
// knows when, so that it explains nothing.
func still(all []pause, since *time.Time) []pause {
	open := len(all) > 0 && all[len(all)-1].until.IsZero()
	switch {
	case open && since == nil:
		return all[:len(all)-1]
	case !open && since != nil:
		return append(all, pause{from: since.UTC()})
	}
	return all
}
