package blocking

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// Options are for Look; the zero value is usable.
type Options struct {
	// Prefix of the table names; empty by default.
	Prefix string
	// Dialect is that of the client and the worker.
	Dialect text.Dialect
	// All is for chains at all tables of the server, not only at those of the installation.
	All bool
}

// Report is what Look finds.
type Report struct {
	// Chains are those with a session that waits, that which waits the longest first.
	Chains []Node
	// Locked are rows that are overdue and that a session has locked, among those that have been overdue for longest; More says that
	// there are further rows, which were not looked at, and Skipped that none was, since somebody has a table locked or waits for that.
	Locked        []LockedRow
	More, Skipped bool
	// Unseen is what could not be looked at, and what helps.
	Unseen []Unseen
	// Blind says that not even waits for rows could be looked at.
	Blind bool
}

// Unseen is something that the account, or the server, does not show.
type Unseen struct {
	What string `json:"unseen"`
	Do   string `json:"do,omitempty"`
}

// shownTime bounds how long Look asks for one thing: MySQL does not show it while somebody's statement is no text, and a server that is short of
// everything answers late.
const shownTime = 3 * time.Second

// Look finds the chains at this moment, on a pool made by connect.Open. What it reads one after the other may change between: a session
// that is gone by then has no name. Waits of less than a tenth of a second may be missing. An error is returned where the prefix is
// not allowed, which wraps prescient.ErrInvalid, or where the database cannot be asked; what the account may not see is in the report.
func Look(ctx context.Context, db *sqlx.DB, options Options) (Report, error) {
	l, err := open(ctx, db, options)
	if err != nil {
		return Report{}, err
	}
	if !l.notes() {
		return Report{Blind: true, Unseen: []Unseen{l.notesNothing()}}, nil
	}
	ctx, cancel := context.WithTimeout(ctx, 4*shownTime+2*probeTime+namedRows*longestWait)
	defer cancel()
	waits, seen, err := l.rowWaits(ctx)
	if err != nil {
		return Report{}, err
	}
	more, err := l.metadata(ctx)
	if err != nil {
		return Report{}, err
	}
	waits = append(waits, more...)
	sessions, err := l.sessions(ctx, waits)
	if err != nil {
		return Report{}, err
	}
	for i, w := range waits {
		if s := sessions[w.Waiting]; w.Kind == Metadata { // which takes up what its statement does, mostly
			waits[i].Seconds = s.Seconds
		}
	}
	// A session that is gone by now waits no more, as that of a look like this one before.
	waits = slices.DeleteFunc(waits, func(w Wait) bool { return len(sessions) > 0 && sessions[w.Waiting].ID == 0 })
	var locked []LockedRow
	var unlooked bool
	l.skipped = slices.ContainsFunc(waits, func(w Wait) bool { return w.Kind == Metadata && l.ours(w) })
	if !l.skipped { // else it would wait, too
		if locked, unlooked, err = l.lockedRows(ctx); err != nil {
			return Report{}, err
		}
	}
	end := func(s Session) string { return l.end(ctx, s) }
	return Report{Chains: chains(sessions, waits, l.ours, end), Locked: locked, More: unlooked, Skipped: l.skipped, Unseen: l.unseen, Blind: !seen}, nil
}

// look is one Look under way.
type look struct {
	store.Tables
	db        *sqlx.DB
	database  string
	account   string
	named     map[string]bool // tables of the installation; nil for all of the server
	unseen    []Unseen
	endByCall *bool
	skipped   bool // no row was looked at
	shown     time.Duration
}

func open(ctx context.Context, db *sqlx.DB, options Options) (*look, error) {
	tables, err := store.NameTables(ctx, db, options.Prefix, options.Dialect)
	if err != nil {
		return nil, err
	}
	l := &look{Tables: tables, db: db, shown: shownTime}
	if err := store.QueryRow(ctx, db, []any{&l.database, &l.account}, "SELECT COALESCE(DATABASE(), ''), CURRENT_USER()"); err != nil {
		return nil, fmt.Errorf("asking for the account: %w", err)
	}
	if user, host, ok := strings.Cut(l.account, "@"); ok {
		l.account = "'" + user + "'@'" + host + "'"
	}
	if options.All {
		return l, nil
	}
	l.named = make(map[string]bool)
	for _, name := range text.Tables(options.Prefix) {
		l.named[name] = true
	}
	return l, nil
}

// notes says whether the server notes who waits for whom.
func (l *look) notes() bool { return l.Server != text.TiDB && l.Server != text.Vitess }

func (l *look) notesNothing() Unseen {
	return Unseen{What: "who waits for whom, since " + string(l.Server) + " does not note that as MySQL and MariaDB do"}
}

// ours says whether a wait is for something of the installation. A metadata lock of the whole server is everybody's; rows without a
// database are MariaDB's dictionary, which changes of any table on the server lock for a moment.
func (l *look) ours(w Wait) bool {
	return l.named == nil || w.Table == "" && w.Kind == Metadata || strings.EqualFold(w.Schema, l.database) && l.named[strings.ToLower(w.Table)]
}

// read reads all rows of a query. What the account may not see goes to the report under what; then ok is false.
func read[T any](within context.Context, l *look, query, what string, columns func(row *T) []any) (all []T, ok bool, err error) {
	ctx, cancel := context.WithTimeout(within, l.shown)
	defer cancel()
	err = store.UntilShown(ctx, func(ctx context.Context) (err error) {
		all, err = store.Rows(ctx, l.db, "asking for "+what, query, columns)
		return err
	})
	switch {
	case errno.Is(err, errno.AccessDenied):
		l.lacks(what, "GRANT PROCESS ON *.* TO "+l.account)
	case errno.Is(err, errno.TableDenied, errno.DatabaseDenied):
		l.lacks(what, "GRANT PROCESS ON *.* TO "+l.account+"; GRANT SELECT ON performance_schema.* TO "+l.account)
	case errno.Is(err, errno.NotShown):
		l.lacks(what+": MySQL showed nothing for "+l.shown.String()+", since the statement of some session is no text", "look again")
	case err != nil && over(ctx) && !over(within):
		l.lacks(what+": the server said nothing for "+l.shown.String(), "look again")
	default:
		return all, err == nil, err
	}
	return nil, false, nil
}

// over says whether the time of a context is over. A connection that was being made ends by the same deadline, and may do so before the
// context does.
func over(ctx context.Context) bool {
	by, ok := ctx.Deadline()
	return ctx.Err() != nil || ok && !time.Now().Before(by)
}

func (l *look) lacks(what, do string) {
	u := Unseen{What: what, Do: do}
	if !slices.Contains(l.unseen, u) {
		l.unseen = append(l.unseen, u)
	}
}

// rowWaits reads who waits for whose rows.
func (l *look) rowWaits(ctx context.Context) (waits []Wait, seen bool, err error) {
	name := "blocking/row_waits"
	if l.Server == text.MariaDB {
		name = "blocking/row_waits_mariadb"
	}
	waits, seen, err = read(ctx, l, l.Stmt.Get(name), "who waits for whose rows", func(w *Wait) []any {
		return []any{&w.Waiting, &w.Blocking, &w.Schema, &w.Table, &w.Index, &w.Mode, &w.queued, &w.Seconds}
	})
	for i := range waits {
		w := &waits[i]
		w.Kind, w.Seconds = Row, max(w.Seconds, 0)
		if w.Schema == "" {
			w.Schema, w.Table = tableOf(w.Table)
		}
	}
	return waits, seen, err
}

// tableOf reads MariaDB's `database`.`table` /* Partition `p` */.
func tableOf(name string) (schema, table string) {
	name, _, _ = strings.Cut(name, " /*")
	schema, table, _ = strings.Cut(strings.TrimSuffix(strings.TrimPrefix(name, "`"), "`"), "`.`")
	return schema, table
}

// metadata reads who waits for whose metadata locks.
func (l *look) metadata(ctx context.Context) (waits []Wait, err error) {
	const what = "who waits for whose metadata locks"
	if l.Server == text.MariaDB {
		var noted bool
		err := store.QueryRow(ctx, l.db, []any{&noted}, l.Stmt.Get("blocking/metadata_shown"))
		if err != nil || !noted { // whatever is in the way: it tells less
			return l.perhaps(ctx)
		}
	}
	locks, _, err := read(ctx, l, l.Stmt.Get("blocking/metadata_locks"), what, func(m *metadataLock) []any {
		return []any{&m.object, &m.schema, &m.table, &m.mode, &m.pending, &m.session}
	})
	return metadataWaits(locks), err
}

// perhaps takes the sessions of a MariaDB that does not note metadata locks, and that wait for one; and for whom they can wait: who has
// had a transaction open the longest. Who has locked tables in no transaction does not show.
func (l *look) perhaps(ctx context.Context) (waits []Wait, err error) {
	session := func(id *uint64) []any { return []any{id} }
	waiting, ok, err := read(ctx, l, l.Stmt.Get("blocking/metadata_waits_mariadb"), "who waits for a metadata lock", session)
	if !ok || len(waiting) == 0 {
		return nil, err
	}
	l.lacks("who has the metadata lock that others wait for: of the sessions with the oldest transactions each may have it",
		"set performance_schema=ON and performance_schema_instrument='wait/lock/metadata/sql/mdl=ON' in the server's configuration, and restart the server")
	open, ok, err := read(ctx, l, l.Stmt.Get("blocking/open_mariadb"), "whose transactions are open", session)
	if !ok {
		return nil, err
	}
	for _, w := range waiting {
		for _, b := range open {
			if !slices.Contains(waiting, b) {
				waits = append(waits, Wait{Waiting: w, Blocking: b, Kind: Metadata, Perhaps: true})
			}
		}
	}
	return waits, nil
}

// sessions reads what the sessions do that wait, or that others wait for.
func (l *look) sessions(ctx context.Context, waits []Wait) (map[uint64]Session, error) {
	ids := make(map[uint64]bool)
	for _, w := range waits {
		ids[w.Waiting], ids[w.Blocking] = true, true
	}
	delete(ids, 0)
	sessions := make(map[uint64]Session, len(ids))
	name := "blocking/sessions"
	if l.Server == text.MariaDB {
		name = "blocking/sessions_mariadb"
	}
	for some := range slices.Chunk(slices.Sorted(maps.Keys(ids)), 1000) {
		list := make([]string, len(some))
		for i, id := range some {
			list[i] = strconv.FormatUint(id, 10)
		}
		in := strings.Join(list, ",")
		some, _, err := read(ctx, l, strings.ReplaceAll(l.Stmt.Get(name), "{ids}", in), "what the sessions do", func(s *Session) []any {
			return []any{&s.ID, &s.User, &s.Host, &s.Database, &s.Command, &s.State, &s.Seconds, &s.Statement, &s.Last}
		})
		if err != nil {
			return nil, err
		}
		for _, s := range some {
			sessions[s.ID] = s.tidied()
		}
		open, _, err := read(ctx, l, strings.ReplaceAll(l.Stmt.Get("blocking/transactions"), "{ids}", in), "for how long transactions are open", func(s *Session) []any {
			return []any{&s.ID, &s.Open}
		})
		if err != nil {
			return nil, err
		}
		for _, one := range open {
			if s, has := sessions[one.ID]; has {
				s.Open = max(one.Open, 0)
				sessions[s.ID] = s
			}
		}
	}
	return sessions, nil
}

// tidied has statements in one line of text, and what it sent last only where that is not what it does.
func (s Session) tidied() Session {
	line := func(text string) string { return strings.Join(strings.Fields(strings.ToValidUTF8(text, "�")), " ") }
	if s.Statement, s.Last = line(s.Statement), line(s.Last); s.Statement != "" {
		s.Last = ""
	}
	s.Seconds = max(s.Seconds, 0)
	return s
}

// end is the statement that ends a session: Amazon's procedure where the server has it.
func (l *look) end(ctx context.Context, s Session) string {
	if s.ID == 0 {
		return "XA ROLLBACK or XA COMMIT of one that XA RECOVER lists"
	}
	if l.endByCall == nil {
		var n int
		err := store.QueryRow(ctx, l.db, []any{&n}, l.Stmt.Get("blocking/ends_by_call"))
		has := err == nil && n > 0
		l.endByCall = &has
	}
	if *l.endByCall {
		return fmt.Sprintf("CALL mysql.rds_kill(%d)", s.ID)
	}
	return fmt.Sprintf("KILL %d", s.ID)
}
