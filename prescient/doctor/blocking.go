package doctor

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"prescient/prescient/blocking"
	"prescient/slots"
)

// DefaultBlocked is for how long a session may wait at the tables: a worker goes on without a row after a second or two, and whoever
// changes a table gives up soon.
const DefaultBlocked = 10 * time.Second

// examineBlocking looks at the sessions that wait for others at the tables.
func (l *look) examineBlocking(ctx context.Context) {
	var found blocking.Report
	found, l.err = blocking.Look(ctx, l.db, blocking.Options{Prefix: l.options.Prefix, Dialect: l.options.Dialect})
	if l.options.NoStatements {
		withoutStatements(&found)
	}
	l.say(append(blockingFindings(found, l.options.Blocked), lockedFindings(found)...)...)
}

// withoutStatements forgets what the sessions send that the findings name.
func withoutStatements(found *blocking.Report) {
	for i := range found.Chains {
		found.Chains[i].Statement, found.Chains[i].Last = "", ""
	}
	for _, row := range found.Locked {
		for i := range row.By {
			row.By[i].Statement, row.By[i].Last = "", ""
		}
	}
}

// withoutChains says that nobody waits, as far as that shows.
func withoutChains(found blocking.Report) Finding {
	const none = "No session waits for another at the tables."
	switch {
	case len(found.Unseen) == 0 && found.Skipped:
		return part("blocking", none+" No overdue row was looked at, since a table as such is locked.", "")
	case len(found.Unseen) == 0 && found.More && len(found.Locked) == 0:
		return part("blocking", none+" The first overdue rows are not locked; the rest was not looked at.", "")
	case len(found.Unseen) == 0:
		return fine("blocking", none)
	}
	var what, do []string
	for _, u := range found.Unseen {
		what = append(what, u.What)
		if u.Do != "" && !slices.Contains(do, u.Do) {
			do = append(do, u.Do)
		}
	}
	helps := "Nothing helps: this server does not show that."
	if len(do) > 0 {
		helps = sentence(strings.Join(do, "; "))
	}
	if found.Blind {
		return unseen("blocking", notShowing(what), helps)
	}
	return part("blocking", none+" "+notShowing(what), helps)
}

// notShowing says what this account does not see.
func notShowing(what []string) string {
	return "The server does not show this account " + strings.Join(what, ", or ") + "."
}

// lockedFindings names rows that cannot be run, since sessions have them locked.
func lockedFindings(found blocking.Report) (findings []Finding) {
	for _, row := range found.Locked {
		what := fmt.Sprintf("%s of %s was not run in its slot %s: ", row.JobExec, row.Entity(), slots.Stamp(row.Slot))
		if len(row.By) == 0 {
			do := "End the transaction that is open the longest. `blocking` shows more."
			for _, u := range found.Unseen {
				if u.Do != "" {
					do = sentence(u.Do) + " Then `doctor` says whose transaction that is."
					break
				}
			}
			findings = append(findings, warn("blocking.rows", what+"an open transaction holds its row, and whose transaction that is does not show.", do).about(row.Entity().String()))
			continue
		}
		first := row.By[0]
		text := what + row.Held()
		if by := row.Accounts(); by != "" {
			text += " (" + by + ")"
		}
		if first.Open > 0 {
			text += fmt.Sprintf(", by a transaction that has been open for %s", time.Duration(first.Open)*time.Second)
		}
		if does := first.Statement + first.Last; does != "" {
			text += fmt.Sprintf(", whose statement is %.200s", does)
		}
		findings = append(findings, warn("blocking.rows", text+".", endIn(first, row.End)+" The sweeper tries the row again.").about(row.Entity().String()))
	}
	return findings
}

// blockingFindings judges chains, of which the first is that in which somebody waits the longest.
func blockingFindings(found blocking.Report, limit time.Duration) []Finding {
	if len(found.Chains) == 0 {
		return []Finding{withoutChains(found)}
	}
	root := found.Chains[0]
	whose := root.Name()
	longest := time.Duration(root.Longest()) * time.Second
	text := fmt.Sprintf("%s for %s at the tables, the longest for %s", waitingOf(root), whose, longest)
	do := endIn(root.Session, root.End)
	if root.Perhaps() {
		do = "See whether that session has used the table, and only then end it: " + root.HowToEnd(root.End)
		text = fmt.Sprintf("%s for the metadata lock of a table, the longest for %s, perhaps for %s", waitingOf(root), longest, whose)
	}
	if does := root.Statement + root.Last; does != "" {
		text += fmt.Sprintf(", whose statement is %.200s", does)
	}
	if longest < limit {
		return []Finding{fine("blocking", text+".")}
	}
	return []Finding{warn("blocking", text+".", do+" `blocking` shows all that wait.")}
}

// endIn says how a session is ended whose transaction is in the way.
func endIn(s blocking.Session, statement string) string {
	if s.ID == 0 {
		return s.HowToEnd(statement)
	}
	return fmt.Sprintf("See what keeps the transaction open, and end it there or by %s.", statement)
}

// waitingOf says how many wait for a root.
func waitingOf(root blocking.Node) string {
	return counted(root.Waiting(), "session waits", "sessions wait")
}
