package blocking

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// A session that has a row locked, and for which nobody waits, shows nowhere on MariaDB, and on MySQL only among all locks of the
// server. So the look waits for the row itself: for a second at most, on a connection of its own, and no longer than until the server
// shows for whom.

const (
	// overduePage is how many rows that are overdue are looked at by a statement, overdueProbe how many in all, and probeTime for how long.
	overduePage, overdueProbe, probeTime = 500, 100_000, 3 * time.Second
	namedRows                            = 3 // locked rows of which it is looked who has them
	// lookEvery is how often it is looked for whom it waits: MariaDB tells what it told last to who asks again within a tenth of a second.
	lookEvery = 150 * time.Millisecond
	// longestWait bounds the wait for one row: MySQL looks for waits that are over once a second. Where that is over, too, somebody has the row, and the
	// server is too slow to say who.
	longestWait = 3 * time.Second
)

// LockedRow is a pending row whose slot has begun, and that a session has locked: it cannot be run.
type LockedRow struct {
	EntityName string    `db:"entity_name" json:"entity_name"`
	EntityKey  string    `db:"entity_key" json:"entity_key"`
	JobExec    string    `db:"job_exec" json:"job_exec"`
	Tag        string    `db:"tag" json:"tag,omitempty"`
	Slot       time.Time `db:"next_check_at" json:"slot"`
	RawKey     []byte    `db:"job_key" json:"-"`
	// By are the sessions that have it; none where that does not show.
	By []Session `db:"-" json:"by"`
	// End is the statement that ends the first of them.
	End string `db:"-" json:"end,omitempty"`
}

// Entity returns what the row is about.
func (r LockedRow) Entity() prescient.Entity {
	return prescient.Entity{Name: r.EntityName, Key: r.EntityKey}
}

// Held says which connections have the row: "connection 205 holds its row".
func (r LockedRow) Held() string {
	names := make([]string, len(r.By))
	for i, s := range r.By {
		names[i] = Session{ID: s.ID}.Name()
	}
	if len(names) > 1 {
		return strings.Join(names, " and ") + " hold its row"
	}
	return strings.Join(names, "") + " holds its row"
}

// Accounts are those of the sessions: "shop@10.0.0.7"; empty where that does not show.
func (r LockedRow) Accounts() string {
	var names []string
	for _, s := range r.By {
		if s.User != "" {
			names = append(names, s.User+"@"+s.Host)
		}
	}
	return strings.Join(names, ", ")
}

// HeldBy finds which sessions have a pending row locked, on a pool made by connect.Open: none where nobody has it by now, or where that
// does not show, which is said in unseen. It takes a second at most, and longer only where the server is slow.
func HeldBy(ctx context.Context, db *sqlx.DB, options Options, job prescient.FutureJob) (row LockedRow, unseen []Unseen, err error) {
	key := job.Key()
	row = LockedRow{EntityName: job.EntityName, EntityKey: job.EntityKey, JobExec: job.JobExec, Tag: job.Tag, Slot: job.NextCheckAt, RawKey: key[:]}
	l, err := open(ctx, db, options)
	if err != nil {
		return row, nil, err
	}
	if !l.notes() {
		return row, []Unseen{l.notesNothing()}, nil
	}
	if _, seen, err := l.rowWaits(ctx); err != nil || !seen {
		return row, l.unseen, err
	}
	w, err := l.waiter(ctx)
	if err != nil {
		return row, l.unseen, err
	}
	defer w.leave()
	_, err = w.heldBy(ctx, &row)
	return row, l.unseen, err
}

// waiter waits on a connection of its own, which is not used again: what is set on it is not for others.
type waiter struct {
	*look
	conn    *sqlx.Conn
	id      uint64
	longest time.Duration
}

func (l *look) waiter(ctx context.Context) (*waiter, error) {
	conn, err := l.db.Connx(ctx)
	if err != nil {
		return nil, fmt.Errorf("taking a connection to wait on: %w", err)
	}
	w := &waiter{look: l, conn: conn, longest: longestWait}
	if err = conn.GetContext(ctx, &w.id, "SELECT CONNECTION_ID()"); err == nil {
		_, err = conn.ExecContext(ctx, "SET SESSION innodb_lock_wait_timeout = 1, SESSION lock_wait_timeout = 1")
	}
	if err != nil {
		w.leave()
		return nil, fmt.Errorf("preparing a connection to wait on: %w", err)
	}
	return w, nil
}

func (w *waiter) leave() {
	store.Drop(w.conn.Conn)
	_ = w.conn.Close()
}

// lockedRows finds the rows that somebody has locked among those that are overdue, and of a few who has them. A worker that commits has its
// rows locked for a moment, so that those count that are locked when all were looked at, too.
func (l *look) lockedRows(ctx context.Context) (locked []LockedRow, more bool, err error) {
	w, err := l.waiter(ctx)
	if err != nil {
		return nil, false, err
	}
	defer w.leave()
	rows, more, err := w.overdue(ctx)
	if err == nil && l.Dialect != text.Plain {
		rows, err = w.lockedOf(ctx, rows)
	}
	switch {
	case l.mayNotLock(err):
		return nil, false, nil
	case errno.Is(err, errno.NoSuchTable): // there is nothing yet
		return nil, false, nil
	case errno.Is(err, errno.LockWaitTimeout): // the table itself is locked
		l.skipped = true
		return nil, false, nil
	case err != nil:
		return nil, more, err
	}
	for tries, row := range rows {
		if tries == namedRows {
			return locked, true, nil
		}
		// One that was run meanwhile is let go, or gone.
		held, err := w.heldBy(ctx, &row)
		if l.mayNotLock(err) {
			return nil, false, nil
		} else if err != nil {
			return locked, more, err
		}
		if held {
			locked = append(locked, row)
		}
	}
	return locked, more, nil
}

// overdue reads rows that are overdue and locked; in the dialect plain, which cannot pass over what is locked, a few of those that are overdue.
// more says that there are some that were not looked at.
func (w *waiter) overdue(ctx context.Context) (rows []LockedRow, more bool, err error) {
	began, slot, key := time.Now(), prescient.EarliestDue.Add(-time.Second), []byte{}
	grace := int(prescient.DefaultSweepGrace / time.Second)
	for looked := 0; ; {
		var page []LockedRow
		err := w.conn.SelectContext(ctx, &page, w.Stmt.Get("blocking/overdue"), slot, key, overduePage, slot, grace, overduePage, overduePage)
		if err != nil {
			return nil, false, fmt.Errorf("asking for rows that are overdue: %w", err)
		}
		if w.Dialect == text.Plain {
			return page, len(page) == overduePage, nil
		}
		some, err := w.lockedOf(ctx, page)
		if err != nil {
			return nil, false, err
		}
		rows = append(rows, some...)
		if len(page) < overduePage {
			return rows, false, nil
		}
		if looked += len(page); looked >= overdueProbe || len(rows) >= overduePage || time.Since(began) > probeTime {
			return rows, true, nil
		}
		last := page[len(page)-1]
		slot, key = last.Slot, last.RawKey
	}
}

// lockedOf returns those of some rows that somebody has locked, or that are gone.
func (w *waiter) lockedOf(ctx context.Context, rows []LockedRow) (locked []LockedRow, err error) {
	free, err := w.free(ctx, rows)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if !free[string(row.RawKey)] {
			locked = append(locked, row)
		}
	}
	return locked, nil
}

// mayNotLock says whether an error is that the account may not read, or not lock, rows that are pending.
func (l *look) mayNotLock(err error) bool {
	if !errno.Denied(err) {
		return false
	}
	l.lacks("whether overdue rows are locked", "look with an account of the role worker or owner")
	return true
}

// locking is how rows are locked by an account that may change them, and by one that may not: that meets whoever changes a row, or is to, and
// not whoever only has it shared.
func (l *look) locking(share bool) string {
	switch {
	case !share:
		return "FOR UPDATE"
	case l.Server == text.MySQL, l.Server == text.VitessShard:
		return "FOR SHARE"
	}
	return "LOCK IN SHARE MODE"
}

// byRight does something with the lock that the account may take.
func (l *look) byRight(do func(lock string) error) error {
	err := do(l.locking(false))
	if errno.Denied(err) {
		err = do(l.locking(true))
	}
	return err
}

// free finds which of some rows nobody has locked.
func (w *waiter) free(ctx context.Context, rows []LockedRow) (free map[string]bool, err error) {
	free = make(map[string]bool, len(rows))
	for len(rows) > 0 {
		n := 1
		for n < len(rows) && rows[n].Slot.Equal(rows[0].Slot) {
			n++
		}
		slot, keys := rows[0].Slot, make([]prescient.Key, n)
		for i, row := range rows[:n] {
			keys[i] = prescient.Key(row.RawKey)
		}
		rows = rows[n:]
		for _, index := range []string{"PRIMARY", "job_key"} {
			if len(keys) == 0 {
				break
			}
			var found [][]byte
			err := w.byRight(func(lock string) error {
				found = nil
				return w.conn.SelectContext(ctx, &found, w.Fill("blocking/free", "{index}", index, "{keys}", literal.KeysOf(keys), "{lock}", lock+" SKIP LOCKED"), slot)
			})
			if err != nil {
				return nil, fmt.Errorf("blocking/free: %w", err)
			}
			keys = keys[:0]
			for _, key := range found {
				keys = append(keys, prescient.Key(key))
			}
		}
		for _, key := range keys {
			free[string(key[:])] = true
		}
	}
	return free, nil
}

// heldBy waits for a row, and notes for whom. It says whether somebody has it.
func (w *waiter) heldBy(within context.Context, row *LockedRow) (held bool, err error) {
	ctx, cancel := context.WithTimeout(within, w.longest)
	defer cancel()
	waited := make(chan error, 1)
	go func() { waited <- w.byRight(func(lock string) error { return w.wait(ctx, row, lock) }) }()
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for {
		select {
		case err = <-waited:
			switch {
			case errno.Is(err, errno.LockWaitTimeout, errno.NoWait, errno.QueryInterrupted):
				return true, nil
			case err == nil, errors.Is(err, sql.ErrNoRows):
				row.By = nil
				return false, nil
			case len(row.By) > 0, over(ctx) && !over(within): // whatever ended the wait
				return true, nil
			}
			return false, fmt.Errorf("waiting for %s: %w", row.Entity(), err)
		case <-ticker.C:
		}
		if len(row.By) > 0 {
			continue
		}
		if err := w.noteHolders(ctx, row); err != nil {
			slow := over(ctx) && !over(within)
			cancel()
			if <-waited; slow {
				return true, nil
			}
			return false, err
		}
		if len(row.By) > 0 { // whom it stands in the way of need not wait for it, too
			_, _ = w.db.ExecContext(ctx, fmt.Sprintf("KILL QUERY %d", w.id))
		}
	}
}

// wait locks a row as soon as it is free, and lets it go.
func (w *waiter) wait(ctx context.Context, row *LockedRow, lock string) error {
	tx, err := w.conn.BeginTx(ctx, &sql.TxOptions{Isolation: sql.LevelReadCommitted})
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	key := literal.KeysOf([]prescient.Key{prescient.Key(row.RawKey)})
	for _, index := range []string{"PRIMARY", "job_key"} { // in the order of slot runs
		var found []byte
		if err := tx.QueryRowContext(ctx, w.Fill("blocking/wait", "{index}", index, "{key}", key, "{lock}", lock), row.Slot).Scan(&found); err != nil {
			return err
		}
	}
	return nil
}

// noteHolders notes for whom it waits that waits for a row.
func (w *waiter) noteHolders(ctx context.Context, row *LockedRow) error {
	all, seen, err := w.rowWaits(ctx)
	if err != nil || !seen {
		return err
	}
	var mine []Wait
	for _, one := range all {
		if one.Waiting == w.id && !one.queued {
			mine = append(mine, one)
		}
	}
	sessions, err := w.sessions(ctx, mine)
	if err != nil {
		return err
	}
	known := make(map[uint64]bool)
	for _, one := range mine {
		if known[one.Blocking] {
			continue
		}
		known[one.Blocking] = true
		s, ok := sessions[one.Blocking]
		if !ok {
			s = Session{ID: one.Blocking}
		}
		row.By = append(row.By, s)
	}
	if len(row.By) > 0 {
		row.End = w.end(ctx, row.By[0])
	}
	return nil
}
