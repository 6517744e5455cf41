package bucket

import (
	"context"
	"fmt"
	"slices"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/rule"
	"prescient/prescient/worker/internal/check"
)

// askRules finds among rows those whose rules have changed since they were made, and says what becomes of them uncalled. It reads the rules after the rows,
// so that no row is called before its time by a version that stood when the row was read. Rows without a rule cost nothing.
func (b *Bucket) askRules(ctx context.Context, rows []*check.Answered) error {
	var of []*check.Answered // that rules have made
	var names []string
	seen := make(map[string]bool) // apps may write any number of them
	for _, r := range rows {
		if r.RuleVersion == 0 {
			continue
		}
		if name, is := rule.NameOf(r.Tag); is {
			of = append(of, r)
			if !seen[name] {
				seen[name] = true
				names = append(names, name)
			}
		}
	}
	if len(of) == 0 {
		return nil
	}
	err := b.Shared.Send.Query(ctx, func(ctx context.Context) error { return b.judgeByRules(ctx, of, names) })
	if errno.Denied(err) {
		b.Shared.Log.Warn().Err(err).Int("rows", len(of)).Msg("the checks of rules wait: this account may not read the rules; grant it the role worker anew")
		for _, r := range of {
			r.ByRule = &prescient.Answer{Cause: prescient.CauseWaits}
		}
		return nil
	}
	if err != nil {
		return fmt.Errorf("asking the rules: %w", err)
	}
	return nil
}

// judgeByRules is askRules for rows of rules.
func (b *Bucket) judgeByRules(ctx context.Context, rows []*check.Answered, names []string) error {
	db, tables := b.Shared.Send.DB, b.Shared.Tables
	standing, err := rule.StandingOf(ctx, db, tables, names)
	if err != nil {
		return err
	}
	var asked []rule.Of
	seen := make(map[rule.Of]bool)
	for _, r := range rows {
		name, _ := rule.NameOf(r.Tag)
		of, there := standing[name]
		for _, version := range []uint32{r.RuleVersion, of.MovedTo} {
			if one := (rule.Of{Name: name, Version: version}); there && version != 0 && !seen[one] {
				seen[one] = true
				asked = append(asked, one)
			}
		}
	}
	if len(asked) == 0 {
		return nil
	}
	says, err := b.Shared.Rules.Read(ctx, db, tables, asked)
	if err != nil {
		return err
	}
	var changed []follower
	for _, r := range rows {
		name, _ := rule.NameOf(r.Tag)
		made, known := says[rule.Of{Name: name, Version: r.RuleVersion}]
		if !known { // plain SQL has written it
			continue
		}
		r.Guards = made.Guards()
		of, to := standing[name].Fate(r.RuleVersion)
		target, known := says[rule.Of{Name: name, Version: to}]
		switch {
		case of == rule.End:
			r.ByRule = &prescient.Answer{Cause: prescient.CauseEnds, Outcome: prescient.Cancelled, Err: fmt.Errorf("rule %s was switched off, and took its checks along", name)}
		case of == rule.Move && known && made.Holds(r.FutureJob):
			changed = append(changed, follower{r, target, to})
		}
	}
	return b.follow(ctx, changed)
}

// follower is a check that goes to another version of its rule.
type follower struct {
	row     *check.Answered
	target  rule.Rule
	version uint32
}

// follow has checks go to other versions of their rules: those whose new time is to come are moved. Those stay as they are whose long runs are not over.
func (b *Bucket) follow(ctx context.Context, changed []follower) error {
	if len(changed) == 0 {
		return nil
	}
	keys, err := store.Rows(ctx, b.Shared.Send.DB, "looking for long runs", b.Shared.Tables.Fill("rule/under_way", "{keys}", literal.Keys(changed, func(f follower) prescient.Key { return f.row.JobKey })),
		func(key *prescient.Key) []any { return []any{store.Key(key)} })
	if err != nil {
		return err
	}
	for _, f := range changed {
		r := f.row
		moved, may := f.target.Moved(r.FutureJob, f.version, b.Clock.Now())
		if !may || slices.Contains(keys, r.JobKey) {
			continue
		}
		if r.Guards = f.target.Guards(); b.Shared.Tables.Grid.Ceil(moved.DueAt).After(b.Clock.Now()) {
			r.ByRule = &prescient.Answer{Cause: prescient.CauseMoved, Next: prescient.At(moved.DueAt), RuleVersion: f.version}
			r.ExpiresAt = prescient.ExpiresAt(r.DueAt, f.target.ExpiresAfter) // from where a move takes it along
			continue
		}
		r.LateByRule = moved.DueAt.Before(r.DueAt)
		r.ExpiresAt = moved.ExpiresAt
	}
	return nil
}
