package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/client/internal/handle"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/store"
)

// rescheduleRows is how many rows are moved together. A server looks through all their values for each of them: a hundred cost it
// as much, one for one, as twenty do, and two hundred nearly twice as much.
const rescheduleRows = 100

// NewTime is when a pending check is to be due.
type NewTime struct {
	Entity  prescient.Entity
	JobExec string
	Tag     string
	DueAt   time.Time
}

// RescheduleMany is Reschedule for many: all of them or, with an error, none. On a handle that is no transaction it takes one of
// its own. What became of each stands at its place in the result. A check that stands twice in the list is moved in the order of the
// list. The errors are those of Reschedule; prescient.ErrNotFound, too: it names a check that is not pending.
//
// An operator's (audit.By) leaves an entry of each check in the audit.
//
// The statements that it takes grow by the hundreds of checks, not with each.
func (c *Client) RescheduleMany(ctx context.Context, db prescient.DB, times []NewTime) ([]Inserted, error) {
	for i, t := range times {
		if err := errors.Join(validMove(t.Entity, t.JobExec, t.Tag, t.DueAt), reserved.Refuse(t.Entity)); err != nil {
			return nil, fmt.Errorf("check %d: %w", i+1, err)
		}
	}
	if len(times) == 0 {
		return nil, nil
	}
	did := make([]Inserted, len(times))
	order := byKey(len(times), func(i int) prescient.Key { return times[i].key() })
	err := handle.InTx(ctx, c.tables.Server, db, func(db prescient.DB) error {
		m := moving{client: c, db: db, times: times, did: did}
		return m.move(ctx, order)
	})
	if err != nil {
		return nil, err
	}
	return did, nil
}

func (t NewTime) key() prescient.Key { return prescient.KeyOf(t.Entity, t.JobExec, t.Tag) }

// moving is one RescheduleMany under way.
type moving struct {
	client *Client
	db     prescient.DB
	times  []NewTime
	did    []Inserted
}

// move is a check to be moved.
type move struct {
	place int                 // in the list
	row   prescient.FutureJob // as it was read
}

// move moves checks, in the order of their keys. Those that a plain look shows are moved together. The others, and those that somebody
// changed meanwhile, come last and by themselves: to find them takes locks in UNIQUE (job_key), from which the way to further rows
// is a deadlock with a slot run.
func (m *moving) move(ctx context.Context, order []int) error {
	shown, rest, err := m.look(ctx, order)
	if err != nil {
		return err
	}
	if audit.Of(ctx).Operator { // whose entries are written with each
		shown, rest = nil, order
	}
	for some := range slices.Chunk(shown, rescheduleRows) {
		missed, err := m.together(ctx, some)
		if err != nil {
			return err
		}
		if err := m.record(ctx, some, missed); err != nil {
			return err
		}
		rest = append(rest, missed...)
	}
	at := make(map[int]int, len(order))
	for i, place := range order {
		at[place] = i
	}
	slices.SortFunc(rest, func(i, j int) int { return cmp.Compare(at[i], at[j]) })
	for _, i := range rest {
		t := m.times[i]
		if m.did[i], err = m.client.reschedule(ctx, m.db, t.Entity, t.JobExec, t.Tag, t.DueAt); err != nil {
			return m.named(i, err)
		}
	}
	return nil
}

// look reads what is pending, without a lock. It returns that in the order of the primary key, in which slot runs and others lock
// rows, too, and the rest: what it did not find, and each check that stands in the list already.
func (m *moving) look(ctx context.Context, order []int) (shown []move, rest []int, err error) {
	first := make(map[prescient.Key]int, len(order))
	var keys []prescient.Key
	for _, i := range order {
		key := m.times[i].key()
		if _, twice := first[key]; twice {
			rest = append(rest, i)
			continue
		}
		first[key] = i
		keys = append(keys, key)
	}
	found := make(map[prescient.Key]bool, len(keys))
	rows, err := m.client.findKeys(ctx, m.db, rowtext.BareColumns, keys, false)
	if err != nil {
		return nil, nil, err
	}
	for _, row := range rows {
		i := first[row.Key()]
		if t := m.times[i]; row.Entity() == t.Entity && row.JobExec == t.JobExec && row.Tag == t.Tag {
			shown = append(shown, move{i, row})
			found[row.Key()] = true
		}
	}
	for _, key := range keys {
		if !found[key] {
			rest = append(rest, first[key])
		}
	}
	slices.SortFunc(shown, func(a, b move) int {
		ak, bk := a.row.Key(), b.row.Key()
		return cmp.Or(a.row.NextCheckAt.Compare(b.row.NextCheckAt), bytes.Compare(ak[:], bk[:]))
	})
	return shown, rest, nil
}

// together moves rows by one statement. It returns the places of those that are not as they were read any more.
func (m *moving) together(ctx context.Context, moves []move) (missed []int, err error) {
	now, err := m.client.now(ctx, m.db)
	if err != nil {
		return nil, err
	}
	rows := make([]prescient.FutureJob, len(moves))
	var due, slot, expires values
	expire := false
	for k, mv := range moves {
		t, key := m.times[mv.place], mv.row.Key()
		dueAt, at, err := m.client.place(t.JobExec, t.DueAt, now)
		if err != nil {
			return nil, m.named(mv.place, err)
		}
		due.add(key, literal.Of(literal.AppendMicro, dueAt))
		slot.add(key, literal.Of(literal.AppendSecond, at))
		expires.add(key, literal.Of(literal.AppendMicroOrNull, prescient.MovedExpiry(mv.row, dueAt)))
		expire = expire || mv.row.ExpiresAt != nil
		rows[k] = mv.row
		m.did[mv.place] = Inserted{Did: DidReschedule, DueAt: dueAt, Slot: at}
	}
	setExpires := ""
	if expire { // an account may have no right to the column
		setExpires = ", job.expires_at = " + expires.text()
	}
	revision := rowtext.NewRevision()
	n, err := store.Affected(ctx, m.db, m.client.tables.Fill("client/reschedule_many", "{due_at}", due.text(), "{next_check_at}", slot.text(),
		"{new_revision}", literal.Of(literal.AppendUint, revision), "{expires_at}", setExpires, "{rows}", rowtext.AsRead(m.client.tables.Dialect, rows)))
	if err != nil {
		return nil, fmt.Errorf("rescheduling %d checks, %s of %s among them: %w", len(rows), rows[0].JobExec, rows[0].Entity(), err)
	}
	if n == len(moves) {
		return nil, nil
	}
	return m.missed(ctx, moves, revision)
}

// missed returns the places of those that do not have the revision that their move gives them.
func (m *moving) missed(ctx context.Context, moves []move, revision uint64) (missed []int, err error) {
	keys := make([]prescient.Key, len(moves))
	for k, mv := range moves {
		keys[k] = mv.row.Key()
	}
	rows, err := m.client.findKeys(ctx, m.db, rowtext.BareColumns, keys, false)
	if err != nil {
		return nil, err
	}
	moved := make(map[prescient.Key]bool, len(rows))
	for _, row := range rows {
		moved[row.Key()] = row.Revision == revision
	}
	for k, mv := range moves {
		if !moved[keys[k]] {
			missed = append(missed, mv.place)
		}
	}
	return missed, nil
}

// record writes the audit of those that were moved together.
func (m *moving) record(ctx context.Context, moves []move, missed []int) error {
	var rows []prescient.FutureJob
	var did []Inserted
	for _, mv := range moves {
		if !slices.Contains(missed, mv.place) {
			rows, did = append(rows, mv.row), append(did, m.did[mv.place])
		}
	}
	return m.client.recordRescheduled(ctx, m.db, rows, did)
}

func (m *moving) named(place int, err error) error { return fmt.Errorf("check %d: %w", place+1, err) }

// values are what a column gets, by job_key.
type values struct {
	cases []byte
	one   string // that all have so far
	many  bool
}

func (v *values) add(key prescient.Key, value string) {
	v.many = v.many || v.cases != nil && value != v.one
	v.one = value
	v.cases = literal.AppendKey(append(v.cases, " WHEN "...), key)
	v.cases = append(append(v.cases, " THEN "...), value...)
}

// text is an expression for the column.
func (v *values) text() string {
	if !v.many {
		return v.one
	}
	return "CASE job.job_key" + string(v.cases) + " END"
}
