package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

// examineInvariants looks for what must never be, among the first pending rows, the latest ends and the latest of the
// ledger: it would be an error of prescient's, or the work of somebody who wrote to its tables. What is in history is
// only looked at by an account that may read it.
func (d *doctor) examineInvariants(ctx context.Context) (found []Finding, err error) {
	const never = "This must never be. Keep the rows and the workers' logs, see who else writes to these tables, and report it. Then "
	var unread, sound, parts []string // tables that the account may not read, what is sound of the rest, and what alone was read
	denied := func(err error, tables ...string) bool {
		is := errno.Denied(err)
		for _, table := range tables {
			if is && !slices.Contains(unread, table) && (len(tables) == 1 || !d.mayUse("SELECT", table)) {
				unread = append(unread, table)
			}
		}
		return is
	}
	for _, rule := range []struct {
		code, statement, text, do string
		reads                     []string
	}{
		{"invariants.both", "operate/both", "is pending and has ended with the same revision", never + "cancel the check.", []string{"future_job", "job_history"}},
		{"invariants.twice", "operate/twice", "has more than one end of the same revision", never + "delete all ends but the first.", []string{"job_history"}},
	} {
		var jobs []prescient.FutureJob
		switch err := d.db.SelectContext(ctx, &jobs, d.tables.Stmt.Get(rule.statement), sampleSize); {
		case denied(err, rule.reads...):
		case err != nil:
			return found, err
		case len(jobs) > 0:
			found = append(found, bad(rule.code, fmt.Sprintf("%s of %s (tag %q, slot %s) %s.", jobs[0].JobExec, jobs[0].Entity(), jobs[0].Tag,
				slots.Stamp(jobs[0].NextCheckAt), rule.text), rule.do))
		case rule.code == "invariants.twice":
			sound = append(sound, "no row of history ended twice")
		}
	}
	var unserved []time.Time
	// Of older slots the ledger may have been pruned.
	switch err := d.db.SelectContext(ctx, &unserved, d.tables.Stmt.Get("operate/unserved"), sampleSize, d.now.Add(-24*time.Hour)); {
	case denied(err, "job_history", "slot_run"):
	case err != nil:
		return found, err
	case len(unserved) > 0:
		found = append(found, bad("invariants.ledger", fmt.Sprintf("History has ends of slot %s, but the ledger has no row of the slot.", slots.Stamp(unserved[0])),
			never+"see whether somebody deleted from slot_run."))
	}
	var open []store.Leased
	switch err := d.db.SelectContext(ctx, &open, d.tables.Stmt.Get("operate/unfinished"), ledgerProbe, d.now.Add(-max(time.Hour, 2*d.options.Lease))); {
	case denied(err, "slot_run", "future_job"):
	case err != nil:
		return found, err
	case len(open) > 0:
		found = append(found, warn("invariants.unfinished", fmt.Sprintf("Bucket %d of slot %s is neither finished nor held, but no check of the slot is left: the worker of the bucket died between its last commit and the end.",
			open[0].Bucket, slots.Stamp(open[0].Slot)), "Nothing. All checks of the bucket have ended or moved on, and `prune` drops its row of the ledger."))
	default:
		sound = append(sound, "the ledger is sound")
	}
	// Each of these is read where the account may, for as much as it may.
	for _, look := range []reach{{"the first %s pending rows", sampleSize, "future_job", "PRIMARY", "", nil},
		{"the latest %s ends", sampleSize, "job_history", "PRIMARY", "", nil}, latestOfLedger} {
		more, err := d.parts(ctx, look)
		if denied(err, look.table) {
			continue
		} else if err != nil {
			return found, err
		}
		parts = append(parts, more...)
	}
	if len(unread) > 0 && len(found) == 0 {
		if len(sound) == 0 {
			return []Finding{d.unseen("invariants", unread)}, nil
		}
		return []Finding{part("invariants", sentence(strings.Join(sound, "; ")+"; the rest takes "+strings.Join(unread, " and ")+", which this user may not read"),
			d.whoLooks("future_job", "job_history", "slot_run"))}, nil
	}
	return orFine(found, "invariants", "no row is pending and ended, or ended twice; every slot with ends is in the ledger", parts...), nil
}
