package rig

import (
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/internal/store"
)

// Tables are the statements and the grid of the installation, as a worker that starts now has them.
func (r *Rig) Tables() *store.Tables {
	r.T.Helper()
	t, err := store.OpenTables(r.T.Context(), r.As("worker", time.Time{}), "p_", 0, r.Setting)
	r.Must(err)
	return &t
}

// HeldLease is a lease of the one bucket of a slot, which a worker has that does nothing with it.
type HeldLease struct {
	r      *Rig
	db     *sqlx.DB
	tables *store.Tables
	slot   time.Time
	worker string
}

// Lease opens a slot as one bucket and takes its lease. What the server says to it is claimed again with claim.
func (r *Rig) Lease(now, slot time.Time, worker string) *HeldLease {
	r.T.Helper()
	l := &HeldLease{r: r, db: r.As("worker", now), tables: r.Tables(), slot: slot, worker: worker}
	_, err := l.db.ExecContext(r.T.Context(), l.tables.Fill("slotrun/open", "{buckets}", "SELECT 0 AS bucket"), slot, 1, "work", slot)
	r.Must(err)
	return l
}

// Claim takes the lease, as one who has seen the bucket unclaimed; false where it is not to be had.
func (l *HeldLease) Claim(ttl time.Duration) bool {
	l.r.T.Helper()
	n, err := store.Affected(l.r.T.Context(), l.db, l.tables.Stmt.Get("slotrun/claim"), 1, l.worker, ttl.Microseconds(), false, "work", l.slot, 0, 0, 0, l.tables.Version)
	l.r.Must(err)
	return n > 0
}

func (l *HeldLease) Renew(ttl time.Duration) {
	l.r.T.Helper()
	n, err := store.Affected(l.r.T.Context(), l.db, l.tables.Stmt.Get("slotrun/renew"), ttl.Microseconds(), l.slot, 0, l.worker, 1)
	l.r.Must(err)
	if n != 1 {
		l.r.T.Fatal("the lease is lost")
	}
}

func (l *HeldLease) Release() {
	l.r.T.Helper()
	_, err := l.db.ExecContext(l.r.T.Context(), l.tables.Stmt.Get("slotrun/release"), false, l.slot, 0, l.worker, 1)
	l.r.Must(err)
}
