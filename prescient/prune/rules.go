package prune

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/rule"
)

// rulePage is how many pending checks are looked at at a time.
const rulePage = 20_000

// pruneRules deletes what rules said that were deleted before, unless a pending check names one: that goes by it. Such a rule counts no longer; its name and
// the number of its last version stay. Of a rule that is there all versions stay: they are its history, and people wrote them.
func (p *pruner) pruneRules(ctx context.Context, cutoff time.Time) error {
	names, err := store.Rows(ctx, p.conn, "reading rules that were deleted", p.tables.Stmt.Get("prune/rules_gone"), func(name *string) []any { return []any{name} }, cutoff)
	if err != nil {
		return err
	}
	if names, err = p.withoutChecks(ctx, names); err != nil {
		return err
	}
	for _, name := range names {
		_, err := p.delete(ctx, func(ctx context.Context) (int, error) { return 0, p.endRule(ctx, name, cutoff) })
		if err != nil {
			return p.leave(ctx, fmt.Errorf("deleting what rule %s said: %w", name, err))
		}
	}
	return nil
}

// withoutChecks leaves out the rules that a pending check names.
func (p *pruner) withoutChecks(ctx context.Context, names []string) ([]string, error) {
	tags := make(map[string]string, len(names))
	for _, name := range names {
		tags[rule.TagOf(name)] = name
	}
	for at, more := (store.Place{Slot: prescient.EarliestDue}), true; more && len(names) > 0; {
		var list []string
		for _, name := range names {
			list = append(list, rule.TagOf(name))
		}
		var end store.Place
		var named []string
		err := p.retry(ctx, "looking for checks of rules that were deleted", func(ctx context.Context) (err error) {
			if end, more, err = p.tables.EndOfPage(ctx, p.conn, at, p.tables.InOne(rulePage)); err != nil {
				return err
			}
			query := p.tables.Fill("prune/rules_pending", append(store.Page(at, end, more), "{tags}", literal.List(literal.AppendText, list))...)
			named, err = store.Rows(ctx, p.conn, "looking for checks of rules that were deleted", query, func(tag *string) []any { return []any{tag} })
			return err
		})
		if err != nil {
			return nil, err
		}
		for _, tag := range named {
			names = slices.DeleteFunc(names, func(name string) bool { return name == tags[tag] })
		}
		at = end
	}
	return names, nil
}

// endRule deletes what a rule said, unless it was made anew meanwhile.
func (p *pruner) endRule(ctx context.Context, name string, cutoff time.Time) (err error) {
	tx, err := p.conn.BeginTxx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, store.Rollback(tx.Tx))
		}
	}()
	of := literal.Of(literal.AppendText, name)
	var gone bool
	if err := store.QueryRow(ctx, tx, []any{&gone}, p.tables.Fill("prune/rule_lock", "{name}", of), cutoff); err != nil {
		return err
	}
	if gone {
		if _, err := store.Affected(ctx, tx, p.tables.Fill("prune/rule_versions", "{name}", of)); err != nil {
			return err
		}
	}
	return tx.Commit()
}
