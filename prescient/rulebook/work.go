package rulebook

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/client"
	"prescient/prescient/internal/duty"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	"prescient/prescient/rule"
)

const (
	// term is how long the lease of a walk lasts: for so long at most it rests when its process died.
	term = 30 * time.Second
	// maxTries is how often a step is tried that the server broke off.
	maxTries = 20
)

// Work walks for all rules that have been changed, each for ten seconds in turn, until nothing is left that no other process has: what is pending follows
// the changes also where whoever made them has died. worker names this one. The error says what stopped a walk; that waits for it or another, and the others
// go on all the same.
func (b *Book) Work(ctx context.Context, db *sqlx.DB, worker string) error {
	names, err := store.Rows(ctx, db, "looking for rules whose checks do not follow them yet", b.tables.Stmt.Get("rule/waiting"), func(name *string) []any { return []any{name} })
	return errors.Join(err, duty.InTurns(ctx, names, func(name string, until time.Time) (over, taken bool, err error) {
		return b.work(ctx, db, name, worker, until, func(Step) {})
	}))
}

// WorkOn walks for one rule until the walk is over, and tells of each step. It is false where another process walks for that rule. The error wraps
// ErrNotFound.
func (b *Book) WorkOn(ctx context.Context, db *sqlx.DB, name, worker string, told func(Step)) (over bool, err error) {
	over, _, err = b.work(ctx, db, name, worker, time.Time{}, told)
	return over, err
}

// dutyOf names the lease of a rule's walk, in as many characters as a duty may have.
func dutyOf(name string) string {
	const most = 32
	of := "rule/" + name
	if len(of) > most {
		of = fmt.Sprintf("rule/%x", sha256.Sum256([]byte(name)))[:most]
	}
	return of
}

// work walks for as long as it may, or until the walk is over; taken says whether there was one to be had.
func (b *Book) work(ctx context.Context, db *sqlx.DB, name, worker string, until time.Time, told func(Step)) (over, taken bool, err error) {
	one, err := b.get(ctx, db, name)
	if err != nil || one.follows() {
		return err == nil, false, err
	}
	held, err := duty.Try(ctx, db, b.tables, dutyOf(name), worker, term)
	switch {
	case errno.Denied(err): // an app that makes rules has no right to leases: what it notes is good only where nobody else has walked on
	case err != nil || held == nil:
		return false, false, err
	default:
		defer func() {
			if lost := held.Release(ctx); err == nil && !over {
				err = lost
			}
		}()
	}
	for broken := 0; ; {
		if one, err = b.get(ctx, db, name); err != nil || one.follows() {
			return err == nil, true, err
		}
		s := step{Book: b, db: db, held: held, one: one, since: time.Now()}
		if err := s.keep(ctx); err != nil || !until.IsZero() && time.Now().After(until) {
			return false, true, err
		}
		rest, err := s.do(ctx)
		told(s.did)
		switch {
		case err == nil:
			broken = 0
		case errors.Is(err, errOvertaken): // the next look shows that
		case client.BeginAgain(err) && broken < maxTries: // an app that is SERIALIZABLE may have the rule and want a check
			broken++
			rest = time.Second
		default:
			return false, true, fmt.Errorf("moving the checks of rule %s: %w", name, err)
		}
		if err := s.rest(ctx, rest); err != nil {
			return false, true, err
		}
	}
}

// follows says that all that was pending at the last change of a rule is as that wants it.
func (s Stored) follows() bool { return max(s.MovedTo, s.EndedTo) <= s.Walk.To }

// stragglers is for how long after a change checks of the version before come from clients that have not read it yet.
const stragglers = rule.Lasts + time.Second
