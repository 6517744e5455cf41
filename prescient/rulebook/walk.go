package rulebook

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/duty"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/rule"
	dialects "prescient/sql"
)

// How a walk goes: rows of a page that it looks at, checks that it moves or ends in a transaction and in a statement, and how often it passes where others keep
// checks locked.
const (
	pageRows  = 5000
	batchRows = 500
	moveRows  = 100
	maxPasses = 20
	// betweenPasses is how long a walk waits for what others have locked, more with each pass.
	betweenPasses = 200 * time.Millisecond
	// ahead is how long before a slot its rows are left to its slot run: one that reads a row before the move commits would call it, and so would
	// the slot that it has moved to. A transaction may take half of this, and its COMMIT the other half.
	ahead = 2 * time.Second
)

// errOvertaken rolls a step back where the rule was changed meanwhile: the walk begins anew.
var errOvertaken = errors.New("the rule was changed, or another walks")

// errSlow rolls a batch back that would be committed too late for its slots.
var errSlow = errors.New("the slots of its checks are too near")

// Step is what one step of a walk did: it looked at a page of what is pending.
type Step struct {
	Moved, Late, Ended int
	// LeftOut are those that others have locked or changed: the next pass looks again.
	LeftOut int
}

// step is one that is under way.
type step struct {
	*Book
	db   *sqlx.DB
	held *duty.Held // nil for an account without the right
	one  Stored
	did  Step

	since time.Time // which it has worked without a rest
	waits int       // for locks of others
}

// noted is how a walk keeps the place that it has reached.
func noted(p store.Place) string { return fmt.Sprintf("%d %s", p.Slot.Unix(), p.Key) }

// placeOf reads a place; one that cannot be read is the first.
func placeOf(reached string) (p store.Place, ok bool) {
	var seconds int64
	var key string
	if n, err := fmt.Sscanf(reached, "%d %s", &seconds, &key); n != 2 || err != nil {
		return store.Place{}, false
	}
	raw, err := hex.DecodeString(key)
	if err != nil || len(raw) != len(p.Key) {
		return store.Place{}, false
	}
	return store.Place{Slot: time.Unix(seconds, 0).UTC(), Key: prescient.Key(raw)}, true
}

// do walks over the next page of what is pending, and says for how long the walk then rests at least.
func (s *step) do(ctx context.Context) (rest time.Duration, err error) {
	now, err := s.client.Now(ctx, s.db)
	if err != nil {
		return 0, err
	}
	w := s.one.Walk
	from, under := placeOf(w.reached)
	// Nobody has found anything in the pass before this one, after which somebody waited: that is enough, whatever the server's clock says.
	quiet := !under && w.Pass > 0 && w.found == 0
	if !under {
		// What is in a slot that has begun, or is about to, its slot run sees to.
		w.Pass, w.found, w.at = w.Pass+1, 0, &now
		from = store.EndOf(s.tables.Grid.Floor(now.Add(ahead)))
	}
	to, more, err := s.tables.EndOfPage(ctx, s.db, from, pageRows)
	if err != nil {
		return 0, err
	}
	rows, err := s.older(ctx, s.db, s.one, from, to, more)
	if err != nil {
		return 0, err
	}
	rows, targets, err := s.toFollow(ctx, s.db, s.one, rows, now)
	if err != nil {
		return 0, err
	}
	w.found += uint64(len(rows))
	if w.reached = noted(to); !more {
		w.reached = ""
	}
	walked := w.To
	if w.at == nil { // plain SQL has taken it away
		w.at = &now
	}
	if !more {
		late := s.one.UpdatedAt.Add(stragglers).Sub(*w.at)
		switch {
		case w.found == 0 && (late <= 0 || quiet), w.Pass >= maxPasses:
			walked = s.one.Version
		case w.found == 0:
			rest = min(late, stragglers) // whatever a clock that was ahead has written
		default:
			rest = betweenPasses * time.Duration(w.Pass)
		}
	}
	for some := range slices.Chunk(rows, batchRows) {
		if err := s.rest(ctx, 0); err != nil {
			return 0, err
		}
		if err := s.divide(ctx, some, targets); err != nil {
			return 0, err
		}
	}
	return rest, s.note(ctx, s.db, w, walked, Step{})
}

// rest rests for a time, or for as long as it has worked since the last rest: a guest takes half of the time at most.
func (s *step) rest(ctx context.Context, least time.Duration) error {
	if err := store.Sleep(ctx, max(least, time.Since(s.since))); err != nil {
		return err
	}
	s.since = time.Now()
	return s.keep(ctx)
}

// keep keeps the lease, where there is one.
func (s *step) keep(ctx context.Context) error {
	if s.held == nil {
		return nil
	}
	return s.held.Keep(ctx)
}

// older reads the checks of older versions of a rule in a page.
func (b *Book) older(ctx context.Context, db *sqlx.DB, one Stored, from, to store.Place, more bool) (rows []prescient.FutureJob, err error) {
	query := b.tables.Fill("rule/older", append(store.Page(from, to, more), "{tag}", text(rule.TagOf(one.Rule.Name)), "{before}", number(max(one.MovedTo, one.EndedTo)))...)
	if err := db.SelectContext(ctx, &rows, query); err != nil {
		return nil, fmt.Errorf("reading checks of rule %s: %w", one.Rule.Name, err)
	}
	return rows, nil
}

// toFollow leaves of some rows those that the rule moves or ends, and says how those are to be that it moves.
func (b *Book) toFollow(ctx context.Context, db prescient.DB, one Stored, rows []prescient.FutureJob, now time.Time) (left []prescient.FutureJob, targets map[prescient.Key]prescient.FutureJob, err error) {
	if len(rows) == 0 {
		return nil, nil, nil
	}
	asked := []rule.Of{{Name: one.Rule.Name, Version: one.MovedTo}}
	for _, row := range rows {
		if of := (rule.Of{Name: one.Rule.Name, Version: row.RuleVersion}); !slices.Contains(asked, of) {
			asked = append(asked, of)
		}
	}
	says, err := b.versions.Read(ctx, db, b.tables, asked)
	if err != nil {
		return nil, nil, err
	}
	keys, err := store.Rows(ctx, db, "looking for long runs", b.tables.Fill("rule/under_way", "{keys}", literal.Keys(rows, prescient.FutureJob.Key)),
		func(key *prescient.Key) []any { return []any{store.Key(key)} })
	if err != nil {
		return nil, nil, err
	}
	called := make(map[prescient.Key]bool, len(keys))
	for _, key := range keys {
		called[key] = true
	}
	targets = make(map[prescient.Key]prescient.FutureJob)
	for _, row := range rows {
		made, known := says[rule.Of{Name: one.Rule.Name, Version: row.RuleVersion}]
		switch of, to := one.Fate(row.RuleVersion); {
		case !known || row.JobExec != one.JobExec:
		case of == rule.End:
			left = append(left, row)
		case of == rule.Move && made.Holds(row) && !called[row.Key()]:
			target, known := says[rule.Of{Name: one.Rule.Name, Version: to}]
			if !known {
				return nil, nil, rule.Of{Name: one.Rule.Name, Version: to}.NotThere()
			}
			if moved, may := target.Moved(row, to, now); may {
				left = append(left, row)
				targets[row.Key()] = moved
			}
		}
	}
	return left, targets, nil
}

// errRows is wrapped by the error of a batch whose checks the server did not write.
var errRows = errors.New("writing the checks")

// mostWaits is for how many locks of others a step waits, each for as long as the session does.
const mostWaits = 12

// divide is batch, in halves where the server does not write one of the rows, which then is left out: plain SQL may have written it with the CHECKs off, as
// MariaDB lets any session do; or an app's open transaction has its neighbour in UNIQUE (job_key), for which MariaDB has a move wait.
func (s *step) divide(ctx context.Context, rows []prescient.FutureJob, targets map[prescient.Key]prescient.FutureJob) error {
	if s.waits >= mostWaits {
		s.did.LeftOut += len(rows)
		return nil
	}
	err := s.batch(ctx, rows, targets)
	waited := errno.Is(err, errno.LockWaitTimeout)
	if !errors.Is(err, errRows) || !waited && !errors.Is(err, errSlow) && !errno.RefusesRow(err) {
		return err
	}
	if waited {
		s.waits++
	}
	if len(rows) == 1 {
		s.did.LeftOut++
		return nil
	}
	half := len(rows) / 2
	for _, some := range [][]prescient.FutureJob{rows[:half], rows[half:]} {
		if err := s.keep(ctx); err != nil { // it may have waited for long
			return err
		}
		if err := s.divide(ctx, some, targets); err != nil {
			return err
		}
	}
	return nil
}

// batch moves and ends some rows in a transaction in which nobody else walks.
func (s *step) batch(ctx context.Context, rows []prescient.FutureJob, targets map[prescient.Key]prescient.FutureJob) error {
	tx, err := s.db.BeginTxx(ctx, nil)
	if err != nil {
		return fmt.Errorf("beginning a transaction: %w", err)
	}
	defer tx.Rollback() // after a commit it does nothing
	if s.held != nil {
		if err := s.held.Fence(ctx, tx); err != nil {
			return err
		}
	}
	asked := time.Now()
	now, err := s.client.Now(ctx, tx)
	if err != nil {
		return err
	}
	until := func(at time.Time) func(row prescient.FutureJob) bool {
		return func(row prescient.FutureJob) bool { return !row.NextCheckAt.After(at) }
	}
	rows = slices.DeleteFunc(slices.Clone(rows), until(now.Add(ahead)))
	locked, err := s.rows.Lock(ctx, tx, rows)
	if err != nil {
		return err
	}
	did := Step{LeftOut: len(rows) - len(locked)}
	var ends, moves []prescient.FutureJob
	for _, row := range locked {
		if _, is := targets[row.Key()]; is {
			moves = append(moves, row)
		} else {
			ends = append(ends, row)
		}
	}
	if len(ends) > 0 {
		if err := s.rows.End(ctx, tx, ends); err != nil {
			return fmt.Errorf("%w: %w", errRows, err)
		}
		did.Ended = len(ends)
	}
	for some := range slices.Chunk(moves, moveRows) {
		late, err := s.move(ctx, tx, some, targets, now)
		if err != nil {
			return fmt.Errorf("%w: %w", errRows, err)
		}
		did.Moved, did.Late = did.Moved+len(some), did.Late+late
	}
	if err := s.note(ctx, tx, s.one.Walk, s.one.Walk.To, did); err != nil {
		return err
	}
	if slices.ContainsFunc(locked, until(now.Add(time.Since(asked)+ahead/2))) {
		return fmt.Errorf("%w: %w", errRows, errSlow)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("committing: %w", err)
	}
	s.did.Moved, s.did.Late, s.did.Ended, s.did.LeftOut = s.did.Moved+did.Moved, s.did.Late+did.Late, s.did.Ended+did.Ended, s.did.LeftOut+did.LeftOut
	return nil
}

// move moves locked rows, and says how many of them were to be called earlier than now.
func (b *Book) move(ctx context.Context, tx prescient.DB, rows []prescient.FutureJob, targets map[prescient.Key]prescient.FutureJob, now time.Time) (late int, err error) {
	var due, slot, expires, asRead strings.Builder
	keys := make([]prescient.Key, len(rows))
	for i, row := range rows {
		to, key := targets[row.Key()], literal.Of(literal.AppendKey, row.Key())
		keys[i] = row.Key()
		_, at, err := prescient.Place(b.tables.Grid, to.DueAt.Sub(now), row.JobExec, to.DueAt, now) // a rule's horizon is its own
		if err != nil {
			return 0, err
		}
		if !to.DueAt.After(now) && to.DueAt.Before(row.DueAt) {
			late++
		}
		fmt.Fprintf(&due, " WHEN %s THEN %s", key, literal.Of(literal.AppendMicro, to.DueAt))
		fmt.Fprintf(&slot, " WHEN %s THEN %s", key, literal.Of(literal.AppendSecond, at))
		fmt.Fprintf(&expires, " WHEN %s THEN %s", key, literal.Of(literal.AppendMicroOrNull, to.ExpiresAt))
		if i > 0 {
			asRead.WriteString(" OR ")
		}
		fmt.Fprintf(&asRead, "job.next_check_at = %s AND job.job_key = %s AND job.revision = %d", literal.Of(literal.AppendSecond, row.NextCheckAt), key, row.Revision)
	}
	condition := asRead.String()
	if b.tables.Dialect == dialects.Plain { // by which Vitess knows the shards
		condition = "job.job_key IN (" + literal.KeysOf(keys) + ") AND (" + condition + ")"
	}
	n, err := store.Affected(ctx, tx, b.tables.Fill("rule/move", "{due_at}", "CASE job.job_key"+due.String()+" END", "{next_check_at}", "CASE job.job_key"+slot.String()+" END",
		"{expires_at}", "CASE job.job_key"+expires.String()+" END", "{version}", number(targets[keys[0]].RuleVersion), "{new_revision}", literal.Of(literal.AppendUint, rand.Uint64()>>1), "{rows}", condition))
	if err == nil && n != len(rows) {
		err = fmt.Errorf("%d of %d locked checks were moved", n, len(rows))
	}
	if err != nil {
		return 0, fmt.Errorf("moving %d checks: %w", len(rows), err)
	}
	return late, nil
}

// note notes how far the walk is, and what was done since it was read. The error is errOvertaken where the rule was changed, or another has walked on, since.
func (s *step) note(ctx context.Context, db prescient.DB, is Walk, walked uint32, did Step) error {
	was := s.one
	n, err := store.Affected(ctx, db, s.tables.Fill("rule/walk", "{pass}", number(is.Pass), "{reached}", text(is.reached), "{found}", number(is.found), "{moved}", number(did.Moved),
		"{late}", number(did.Late), "{ended}", number(did.Ended), "{at}", literal.Of(literal.AppendMicroOrNull, is.at), "{walked_to}", number(walked), "{name}", text(was.Rule.Name),
		"{version}", number(was.Version), "{was_pass}", number(was.Walk.Pass), "{was}", text(was.Walk.reached)))
	if err != nil {
		return fmt.Errorf("noting how far the walk of rule %s is: %w", was.Rule.Name, err)
	}
	if n == 0 {
		return errOvertaken
	}
	return nil
}
