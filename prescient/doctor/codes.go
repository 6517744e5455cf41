package doctor

import (
	"fmt"
	"slices"
	"strings"

	"prescient/prescient"
)

// furtherCodes are those of findings beside the codes of the examinations.
var furtherCodes = []string{"tables", "reslot", "schema.table", "schema.column", "schema.index", "schema.check", "schema.default", "schema.grid",
	"schema.view", "schema.procedure", "schema.definer", "coverage.unserved", "coverage.doubled", "rows.key", "rows.early", "rows.checks",
	"rows.names", "rows.grid", "invariants.both", "invariants.twice", "invariants.ledger", "invariants.unfinished", "purge.transaction", "blocking.rows",
	"audit.versions", "audit.deleted", "schedules.timers", "schedules.timerless", "schedules.zones", "schedules.crontabs", "long_runs.waiting", "long_runs.takeovers", "long_runs.checkpoint",
	"agents.slots", "agents.sweep", "agents.pools", "agents.runs", "agents.names", "agents.versions", "agents.clock", "agents.connections", "events.failing", "events.old", "events.refused", "events.shard"}

// FindingCodes returns the codes that findings have. One with a dot is of the kind that stands before it.
func FindingCodes() []string {
	var all []string
	for _, e := range examinations {
		all = append(all, e.code)
	}
	all = append(all, furtherCodes...)
	slices.Sort(all)
	return slices.Compact(all)
}

// always count, whatever is selected: with tables that are missing or broken nothing else can be told for sure.
var always = []string{"tables", "schema.table", "schema.column"}

// CheckCodes refuses a code that no finding has. The error wraps prescient.ErrInvalid and lists the codes.
func CheckCodes(codes []string) error {
	known := FindingCodes()
	for _, code := range codes {
		if !slices.Contains(known, code) {
			return fmt.Errorf("%w: no finding has the code %.40q; the codes are %s", prescient.ErrInvalid, code, strings.Join(known, ", "))
		}
	}
	return nil
}

// SelectFindings keeps the findings of some codes, or all where only is empty, but for those of other codes. A code also
// stands for those of its kind. Missing and broken tables are always kept. The error wraps prescient.ErrInvalid: a code that there
// is not, one that cannot be ignored, or that nothing of only was looked at.
func SelectFindings(found []Finding, only, ignore []string) ([]Finding, error) {
	if err := CheckCodes(append(slices.Clone(only), ignore...)); err != nil {
		return nil, err
	}
	for _, code := range ignore {
		if slices.Contains(always, code) {
			return nil, fmt.Errorf("%w: %s cannot be ignored: where tables are missing or broken, no other finding is sure", prescient.ErrInvalid, code)
		}
	}
	is := func(f Finding, codes []string) bool {
		kind, _, _ := strings.Cut(f.Code, ".")
		return slices.Contains(codes, f.Code) || slices.Contains(codes, kind)
	}
	var kept []Finding
	for _, f := range found {
		switch {
		case f.Severity.Wrong() && slices.Contains(always, f.Code):
		case len(only) > 0 && !is(f, only), is(f, ignore):
			continue
		}
		kept = append(kept, f)
	}
	looked := func(f Finding) bool { return f.Severity != SeverityUnseen }
	if len(only) > 0 && len(kept) > 0 && !slices.ContainsFunc(kept, looked) {
		f := kept[0]
		return nil, fmt.Errorf("%w: %s: %s: %s: %s", prescient.ErrInvalid, f.Code, f.Severity, f.Text, f.Do)
	}
	return kept, nil
}
