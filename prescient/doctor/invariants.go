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

// endedWithin is how far back ends are looked for of rows that are pending, or ended again: each is looked up in each partition since then.
const endedWithin = 14 * 24 * time.Hour

// examineInvariants looks for what must never be, among the first pending rows, the latest ends and the latest of the
// ledger: it would be an error of prescient's, or the work of somebody who wrote to its tables. What is in history is
// only looked at by an account that may read it.
func (l *look) examineInvariants(ctx context.Context) {
	const never = "This must never be. Copy the rows of both tables and the workers' logs, see who else writes to these tables, and report it. Then "
	var unread, sound, parts []string // tables that the account may not read, what is sound of the rest, and what alone was read
	denied := func(tables ...string) bool {
		if !errno.Denied(l.err) {
			return false
		}
		l.err = nil
		for _, table := range tables {
			if !slices.Contains(unread, table) && (len(tables) == 1 || !l.mayUse("SELECT", table)) {
				unread = append(unread, table)
			}
		}
		return true
	}
	for _, rule := range []struct {
		code, statement, text, do string
		reads                     []string
	}{
		{"invariants.both", "operate/both", "is pending in future_job and has ended in job_history with the same revision", never + "cancel the pending one, so that it does not run again: `cancel --entity {entity} --exec {exec}`.", []string{"future_job", "job_history"}},
		{"invariants.twice", "operate/twice", "has more than one end of the same revision", never + "delete all ends but the first.", []string{"job_history"}},
	} {
		var jobs []prescient.FutureJob
		l.rows(ctx, &jobs, rule.statement, sampleSize, l.now.Add(-endedWithin))
		switch {
		case denied(rule.reads...):
		case len(jobs) > 0:
			l.say(bad(rule.code, fmt.Sprintf("%s of %s (tag %q, slot %s) %s.", jobs[0].JobExec, jobs[0].Entity(), jobs[0].Tag,
				slots.Stamp(jobs[0].NextCheckAt), rule.text), strings.NewReplacer("{entity}", jobs[0].Entity().String(), "{exec}", jobs[0].JobExec).Replace(rule.do)))
		case rule.code == "invariants.twice":
			sound = append(sound, "no row of history ended twice")
		}
	}
	var unserved []time.Time
	// Of older slots the ledger may have been pruned.
	l.rows(ctx, &unserved, "operate/unserved", sampleSize, l.now.Add(-24*time.Hour))
	if !denied("job_history", "slot_run") && len(unserved) > 0 {
		l.say(bad("invariants.ledger", fmt.Sprintf("History has ends of slot %s, but the ledger has no row of the slot.", slots.Stamp(unserved[0])),
			never+"see whether somebody deleted from slot_run."))
	}
	var open []store.Leased
	l.rows(ctx, &open, "operate/unfinished", ledgerProbe, l.now.Add(-max(time.Hour, 2*l.options.Lease)))
	switch {
	case denied("slot_run", "future_job"):
	case len(open) > 0:
		l.say(warn("invariants.unfinished", fmt.Sprintf("Bucket %d of slot %s is neither finished nor held, but no check of the slot is left: the worker of the bucket died between its last commit and the end.",
			open[0].Bucket, slots.Stamp(open[0].Slot)), "Nothing. All checks of the bucket have ended or moved on, and `prune` drops its row of the ledger."))
	default:
		sound = append(sound, "the ledger is sound")
	}
	// Each of these is read where the account may, for as much as it may.
	for _, one := range []reach{{"the first %s pending rows", sampleSize, "future_job", "PRIMARY", "", nil},
		{"the latest %s ends", sampleSize, "job_history", "PRIMARY", "", nil}, latestOfLedger} {
		parts = append(parts, l.parts(ctx, one)...)
		denied(one.table)
	}
	switch {
	case len(unread) == 0 || len(l.found) > 0:
		l.orPart("invariants", "no row is pending and ended, or ended twice; every slot with ends is in the ledger", parts)
	case len(sound) == 0:
		l.say(l.unseen("invariants", unread))
	default:
		l.say(part("invariants", sentence(strings.Join(sound, "; ")+"; the rest takes "+strings.Join(unread, " and ")+", which this user may not read"),
			l.whoLooks("future_job", "job_history", "slot_run")))
	}
}
