package rulebook

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/rule"
)

// Put makes a rule, or puts what it says in the place of what it said, and says whether anything changed, and which version it has now. With a version it is
// refused as ErrStale unless that is the rule's; 0 is for whichever there is, or none. Older says what becomes of the pending checks of older versions: Move,
// the default, or Leave. A rule that is off stays off; one that was deleted is made anew. Errors: ErrStale, ErrNotFound where a version is given and there is no
// such rule, ErrFixed, ErrTooMany and prescient.ErrInvalid.
func (b *Book) Put(ctx context.Context, db prescient.DB, r rule.Rule, version uint32, older rule.Older) (changed bool, now uint32, err error) {
	if err := r.Validate(); err != nil {
		return false, 0, err
	}
	if older == "" {
		older = rule.Move
	}
	if older != rule.Move && older != rule.Leave {
		return false, 0, fmt.Errorf("%w: rule %s: what becomes of older checks %.20q: move or leave are allowed", prescient.ErrInvalid, r.Name, older)
	}
	r = r.WithDefaults()
	err = b.inTx(ctx, db, func(db prescient.DB) error {
		changed, now, err = b.put(ctx, db, r, version, older)
		return err
	})
	return changed, now, err
}

// Create makes a rule that is not there, or was deleted: then it goes on with the versions that it had, and pending checks of these go to the new one. The
// error wraps ErrExists where there is one, and else is as that of Put.
func (b *Book) Create(ctx context.Context, db prescient.DB, r rule.Rule) (version uint32, err error) {
	if err := r.Validate(); err != nil {
		return 0, err
	}
	err = b.inTx(ctx, db, func(db prescient.DB) error {
		old, err := b.lock(ctx, db, r.Name)
		switch {
		case errors.Is(err, ErrNotFound):
			version = 1
			if err = b.create(ctx, db, r.WithDefaults()); errors.Is(err, ErrStale) {
				err = fmt.Errorf("%w: %s: somebody has just made it", ErrExists, r.Name)
			}
		case err == nil && old.State != rule.Deleted:
			err = fmt.Errorf("%w: %s, with version %d", ErrExists, r.Name, old.Version)
		case err == nil:
			_, version, err = b.replace(ctx, db, old, r.WithDefaults(), rule.Move)
		}
		return err
	})
	return version, err
}

// inTx does something in a transaction, after which the client reads the rules anew.
func (b *Book) inTx(ctx context.Context, db prescient.DB, do func(db prescient.DB) error) error {
	defer b.own.ForgetRules()
	return b.own.InTx(ctx, db, do)
}

func (b *Book) put(ctx context.Context, db prescient.DB, r rule.Rule, version uint32, older rule.Older) (changed bool, is uint32, err error) {
	old, err := b.lock(ctx, db, r.Name)
	if errors.Is(err, ErrNotFound) && version == 0 {
		return true, 1, b.create(ctx, db, r)
	}
	if err != nil {
		return false, 0, err
	}
	if version != 0 && version != old.Version {
		return false, 0, fmt.Errorf("%w: %s has version %d, and not %d", ErrStale, r.Name, old.Version, version)
	}
	return b.replace(ctx, db, old, r, older)
}

// replace puts what a rule says in the place of what one said that is locked.
func (b *Book) replace(ctx context.Context, db prescient.DB, old Stored, r rule.Rule, older rule.Older) (changed bool, is uint32, err error) {
	switch {
	case r.Occasion != old.Occasion || r.JobExec != old.JobExec:
		return false, 0, fmt.Errorf("%w: %s is of occasion %s and job_exec %s: give the other one another name", ErrFixed, r.Name, old.Occasion, old.JobExec)
	case old.State != rule.Deleted && r.Same(old.Rule):
		return false, old.Version, nil
	}
	state, verb := old.State, audit.Update
	if state == rule.Deleted {
		state, verb = rule.On, audit.Create
	}
	is, err = b.change(ctx, db, old, r, state, older, verb)
	return err == nil, is, err
}

// create inserts a rule that is not there.
func (b *Book) create(ctx context.Context, db prescient.DB, r rule.Rule) error {
	all, err := rule.ReadAll(ctx, db, b.tables)
	if err != nil {
		return err
	}
	if len(all) >= MaxRules {
		return fmt.Errorf("%w: there are %d; %d are allowed, deleted ones among them, until prune takes them", ErrTooMany, len(all), MaxRules)
	}
	now, err := b.own.Now(ctx, db)
	if err != nil {
		return err
	}
	doing := fmt.Sprintf("inserting rule %s", r.Name)
	err = b.tables.Exec(ctx, db, doing, "rule/insert", "{name}", text(r.Name), "{occasion}", text(r.Occasion), "{job_exec}", text(r.JobExec), "{now}", literal.Of(literal.AppendMicro, now))
	if errno.Is(err, errno.DuplicateKey) {
		return fmt.Errorf("%w: %s: somebody has just made it", ErrStale, r.Name)
	}
	if err != nil {
		return err
	}
	s := rule.Standing{Name: r.Name, Version: 1, State: rule.On, Since: now}
	if err := b.tables.Exec(ctx, db, doing, "rule/insert_version", "{row}", row(r, s, now)); err != nil {
		return err
	}
	return b.audit.Record(ctx, db, audit.Entry{Kind: audit.Rule, ID: r.Name, Verb: audit.Create, Version: 1, Incarnation: now, After: recordOf(r, rule.On)})
}

// lock locks a rule that is to be changed, and reads it then. The error wraps ErrNotFound.
func (b *Book) lock(ctx context.Context, db prescient.DB, name string) (Stored, error) {
	var version uint32
	err := store.QueryRow(ctx, db, []any{&version}, b.tables.Fill("rule/lock", "{name}", text(name)))
	if errors.Is(err, sql.ErrNoRows) {
		return Stored{}, fmt.Errorf("%w: %s", ErrNotFound, name)
	}
	if err != nil {
		return Stored{}, fmt.Errorf("locking rule %s: %w", name, err)
	}
	one, err := b.get(ctx, db, name)
	switch {
	case errors.Is(err, ErrNotFound):
		one, err = b.emptied(ctx, db, name, version)
	case err == nil && one.Version != version: // a snapshot of the caller's is older than the lock
		err = fmt.Errorf("%w: %s", ErrStale, name)
	}
	return one, err
}

// emptied reads a rule that is locked and has not what it says: it was deleted long ago, and pruned. The error says why it is another that has not: a
// snapshot of the caller's is older than it, or somebody has deleted what it says.
func (b *Book) emptied(ctx context.Context, db prescient.DB, name string, version uint32) (one Stored, err error) {
	standing, err := rule.StandingOf(ctx, db, b.tables, []string{name})
	if err != nil {
		return one, err
	}
	one.Standing = standing[name]
	switch one.Rule.Name = name; {
	case one.Version != version:
		return one, fmt.Errorf("%w: %s", ErrStale, name)
	case one.State != rule.Deleted:
		return one, fmt.Errorf("%w: its row of rule_version was deleted by SQL; insert it again, as the audit has it", rule.Of{Name: name, Version: version}.NotThere())
	}
	err = store.QueryRow(ctx, db, []any{&one.Occasion, &one.JobExec, store.At(&one.CreatedAt), store.At(&one.UpdatedAt)}, b.tables.Fill("rule/emptied", "{name}", text(name)))
	if err != nil {
		err = fmt.Errorf("reading rule %s: %w", name, err)
	}
	return one, err
}

// change makes the next version of a rule that is locked.
func (b *Book) change(ctx context.Context, db prescient.DB, old Stored, r rule.Rule, state rule.State, older rule.Older, verb string) (version uint32, err error) {
	now, err := b.own.Now(ctx, db)
	if err != nil {
		return 0, err
	}
	if !now.After(old.UpdatedAt) { // by the clock of a server that took over
		now = old.UpdatedAt.Add(time.Microsecond)
	}
	s := old.Next(state, older, now)
	doing := fmt.Sprintf("changing rule %s", r.Name)
	if err := b.tables.Exec(ctx, db, doing, "rule/insert_version", "{row}", row(r, s, now)); err != nil {
		return 0, err
	}
	err = b.tables.Exec(ctx, db, doing, "rule/update", "{version}", number(s.Version), "{state}", text(string(s.State)), "{since}", literal.Of(literal.AppendMicro, s.Since),
		"{moved_to}", number(s.MovedTo), "{ended_to}", number(s.EndedTo), "{now}", literal.Of(literal.AppendMicro, now), "{name}", text(r.Name))
	if err != nil {
		return 0, err
	}
	e := audit.Entry{Kind: audit.Rule, ID: r.Name, Verb: verb, Version: uint64(s.Version), Incarnation: old.CreatedAt, Before: recordOf(old.Rule, old.State), After: recordOf(r, state)}
	return s.Version, b.audit.Record(ctx, db, e)
}

// Pause switches a rule off, and says whether it was on: it makes no more checks. Older says what becomes of those that are pending: Leave or End.
func (b *Book) Pause(ctx context.Context, db prescient.DB, name string, older rule.Older) (changed bool, err error) {
	return b.turn(ctx, db, name, rule.Off, older, audit.Pause)
}

// Resume switches a rule on, and says whether it was off. What happened meanwhile makes no checks; what is pending stays as it is.
func (b *Book) Resume(ctx context.Context, db prescient.DB, name string) (changed bool, err error) {
	return b.turn(ctx, db, name, rule.On, rule.Leave, audit.Resume)
}

// Delete deletes a rule. Older says what becomes of its pending checks: Leave or End. The error wraps ErrNotFound.
func (b *Book) Delete(ctx context.Context, db prescient.DB, name string, older rule.Older) error {
	_, err := b.turn(ctx, db, name, rule.Deleted, older, audit.Delete)
	return err
}

func (b *Book) turn(ctx context.Context, db prescient.DB, name string, state rule.State, older rule.Older, verb string) (changed bool, err error) {
	if err := rule.ValidName(name); err != nil {
		return false, err
	}
	if older != rule.Leave && older != rule.End {
		return false, fmt.Errorf("%w: rule %s: what becomes of its pending checks %.20q: leave or end are allowed", prescient.ErrInvalid, name, older)
	}
	err = b.inTx(ctx, db, func(db prescient.DB) error {
		old, err := b.lock(ctx, db, name)
		if err == nil && old.State == rule.Deleted {
			err = fmt.Errorf("%w: %s: it was deleted", ErrNotFound, name)
		}
		// A rule that is off already may still be asked to take its checks along.
		if err != nil || old.State == state && (older == rule.Leave || old.EndedTo == old.Version) {
			return err
		}
		changed = true
		_, err = b.change(ctx, db, old, old.Rule, state, older, verb)
		return err
	})
	return changed && err == nil, err
}

// record is a rule as it stands in the audit.
type record struct {
	State        rule.State `json:"state"`
	Occasion     string     `json:"occasion"`
	JobExec      string     `json:"job_exec"`
	Delay        string     `json:"delay"`
	Spread       string     `json:"spread,omitempty"`
	ExpiresAfter string     `json:"expires_after,omitempty"`
	OnPending    string     `json:"on_pending"`
	Ends         []string   `json:"ends,omitempty"`
	Payload      any        `json:"payload,omitempty"`
	MaxChecks    int        `json:"max_checks,omitempty"`
	MaxErrors    int        `json:"max_errors,omitempty"`
}

func recordOf(r rule.Rule, state rule.State) record {
	short := func(d time.Duration) string {
		if d == 0 {
			return ""
		}
		return d.String()
	}
	return record{state, r.Occasion, r.JobExec, r.Delay.String(), short(r.Spread), short(r.ExpiresAfter), string(r.OnPending), r.Ends, audit.Bounded(r.Payload), r.MaxChecks, r.MaxErrors}
}
