package blocking

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// Kind is of what a session waits for.
type Kind string

// The kinds.
const (
	// Row is a lock of a row, or of a gap between rows.
	Row Kind = "row"
	// Metadata is a lock of a table as such: a change of the table waits for all transactions that have used it, and they for it.
	Metadata Kind = "metadata"
)

// Session is a session of the database.
type Session struct {
	// ID is the number of its connection; zero for a prepared XA transaction whose connection is gone.
	ID uint64 `json:"id"`
	// User, Host and Database are empty where the session was gone before they could be read.
	User     string `json:"user,omitempty"`
	Host     string `json:"host,omitempty"`
	Database string `json:"database,omitempty"`
	// Command and State are those of the list of processes, and Seconds for how long they are so: Sleep for how long it idles.
	Command string `json:"command,omitempty"`
	State   string `json:"state,omitempty"`
	Seconds int64  `json:"seconds"`
	// Open is for how many seconds its transaction is open; zero where it has none, or where that does not show.
	Open int64 `json:"open_seconds,omitempty"`
	// Statement is what it does, its first 1000 characters; Last is what it sent last, where it idles and the server says so (MySQL).
	Statement string `json:"statement,omitempty"`
	Last      string `json:"last_statement,omitempty"`
}

// Name is "connection 205, shop@10.0.0.7".
func (s Session) Name() string {
	switch {
	case s.ID == 0:
		return "a transaction without a connection"
	case s.User == "":
		return fmt.Sprintf("connection %d", s.ID)
	}
	return fmt.Sprintf("connection %d, %s@%s", s.ID, s.User, s.Host)
}

// HowToEnd says what ends a session, by the statement that Report has for it.
func (s Session) HowToEnd(statement string) string {
	if s.ID == 0 {
		return "Mostly that is a prepared XA transaction, which XA RECOVER lists. Ask whoever coordinates it what was decided: XA COMMIT or XA ROLLBACK."
	}
	return statement + " ends this session and rolls its transaction back."
}

// Wait is one session that waits for another.
type Wait struct {
	Waiting  uint64 `json:"-"`
	Blocking uint64 `json:"-"`
	Kind     Kind   `json:"kind"`
	// Schema and Table are of what; both empty for a lock of the whole server, as FLUSH TABLES WITH READ LOCK takes.
	Schema string `json:"schema,omitempty"`
	Table  string `json:"table,omitempty"`
	// Index is that in which a row is locked, and Mode how it is to be locked, as the server says.
	Index   string `json:"index,omitempty"`
	Mode    string `json:"mode,omitempty"`
	Seconds int64  `json:"seconds"`
	// Perhaps says that the server does not tell who is in the way: the other is one of those that can be.
	Perhaps bool `json:"perhaps,omitempty"`
	// queued says that the other does not have it: it waits for the same, and is to get it first.
	queued bool
}

// Node is a session of a chain, and those that wait for it.
type Node struct {
	Session
	// Waits is what it waits for; nil of a root.
	Waits *Wait `json:"waits,omitempty"`
	// End is the statement that ends the root.
	End string `json:"end,omitempty"`
	// Circle says that the root waits for one of those behind it: a deadlock that no server sees, of rows and metadata.
	Circle bool   `json:"circle,omitempty"`
	Behind []Node `json:"behind,omitempty"`
}

// maxNodes bounds what is returned of all chains.
const maxNodes = 1000

// chains builds the chains of waits in which a wait is ours: the longest wait first. It is a pure function.
func chains(sessions map[uint64]Session, waits []Wait, ours func(Wait) bool, end func(Session) string) []Node {
	f := forest{sessions: sessions, ours: ours, behind: make(map[uint64][]Wait), reached: make(map[uint64]bool)}
	waiting := make(map[uint64]bool)
	for _, w := range direct(waits) {
		f.behind[w.Blocking] = append(f.behind[w.Blocking], w)
		waiting[w.Waiting] = true
	}
	roots := slices.DeleteFunc(slices.Sorted(maps.Keys(f.behind)), func(id uint64) bool { return waiting[id] })
	rest := slices.Sorted(maps.Keys(waiting))
	var all []Node
	add := func(id uint64, circle bool) {
		root := f.grow(id, nil, nil)
		root.Circle = circle
		if root.Behind = f.kept(root.Behind); len(root.Behind) > 0 {
			root.End = end(root.Session)
			all = append(all, root)
		}
	}
	for _, id := range roots {
		add(id, false)
	}
	for _, id := range rest {
		if !f.reached[id] { // it waits for itself in the end
			add(id, true)
		}
	}
	slices.SortStableFunc(all, func(a, b Node) int { return cmp.Compare(b.Longest(), a.Longest()) })
	return all
}

// direct leaves out waits for those who are before in the queue, where somebody has what is waited for, and all but one of two sessions.
// A server tells of each who is before another in a queue, which are many of a long one.
func direct(waits []Wait) (kept []Wait) {
	has := make(map[uint64]bool)
	for _, w := range waits {
		has[w.Waiting] = has[w.Waiting] || !w.queued
	}
	seen := make(map[[2]uint64]bool)
	for _, w := range waits {
		pair := [2]uint64{w.Waiting, w.Blocking}
		if w.Waiting == w.Blocking || seen[pair] || w.queued && has[w.Waiting] {
			continue
		}
		seen[pair] = true
		kept = append(kept, w)
	}
	return kept
}

// forest are the chains while they grow.
type forest struct {
	sessions map[uint64]Session
	ours     func(Wait) bool
	behind   map[uint64][]Wait
	reached  map[uint64]bool
	nodes    int
}

// grow builds what waits for a session. above are the sessions between it and the root.
func (f *forest) grow(id uint64, waits *Wait, above []uint64) Node {
	f.nodes++
	f.reached[id] = true
	session, has := f.sessions[id]
	if !has {
		session = Session{ID: id}
	}
	node := Node{Session: session, Waits: waits}
	above = append(slices.Clip(above), id)
	next := slices.Clone(f.behind[id])
	slices.SortFunc(next, func(a, b Wait) int {
		return cmp.Or(cmp.Compare(b.Seconds, a.Seconds), cmp.Compare(a.Waiting, b.Waiting))
	})
	for _, w := range next {
		if f.nodes < maxNodes && !slices.Contains(above, w.Waiting) {
			node.Behind = append(node.Behind, f.grow(w.Waiting, &w, above))
		}
	}
	return node
}

// kept leaves out sessions that neither wait for what is ours nor keep one that does.
func (f *forest) kept(nodes []Node) (kept []Node) {
	for _, n := range nodes {
		n.Behind = f.kept(n.Behind)
		if len(n.Behind) > 0 || f.ours(*n.Waits) {
			kept = append(kept, n)
		}
	}
	return kept
}

// Perhaps says that nobody is known to wait for the session: it is one of those that can be in the way.
func (n Node) Perhaps() bool {
	return !slices.ContainsFunc(n.Behind, func(b Node) bool { return !b.Waits.Perhaps })
}

// Longest is for how many seconds the session that waits the longest in a chain does.
func (n Node) Longest() (seconds int64) {
	if n.Waits != nil {
		seconds = n.Waits.Seconds
	}
	for _, b := range n.Behind {
		seconds = max(seconds, b.Longest())
	}
	return seconds
}

// Waiting is how many sessions wait behind a session. One that waits for two of them counts twice.
func (n Node) Waiting() (count int) {
	for _, b := range n.Behind {
		count += 1 + b.Waiting()
	}
	return count
}

// Of names what a wait is for.
func (w Wait) Of() string {
	table := w.Table
	switch {
	case table == "" && w.Perhaps: // of which does not show
		table = "a table"
	case table == "":
		table = "all tables"
	}
	if w.Kind == Metadata {
		return "the metadata lock of " + table
	}
	if w.Index == "" {
		return "rows of " + table
	}
	return fmt.Sprintf("a row of %s, in %s", table, w.Index)
}
