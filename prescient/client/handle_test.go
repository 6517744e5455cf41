package client

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"testing"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/client/internal/handle"
	"prescient/prescient/internal/rig"
)

// nesting is a transaction in which others are begun, as savepoints: it has BeginTx, as a pool has.
type nesting struct {
	*sql.Tx
	db *sql.DB
}

func (n nesting) BeginTx(ctx context.Context, options *sql.TxOptions) (*sql.Tx, error) {
	return n.db.BeginTx(ctx, options)
}

// hidden is a handle that shows neither that it is a pool nor that it is a transaction.
type hidden struct {
	prescient.DB
	db *sql.DB
}

func (h hidden) BeginTx(ctx context.Context, options *sql.TxOptions) (*sql.Tx, error) {
	return h.db.BeginTx(ctx, options)
}

// pooled is an app's own kind of pool.
type pooled struct{ *sqlx.DB }

// What is done on a handle that wraps a transaction goes with that transaction, also where the handle begins others.
func TestAHandleThatWrapsATransactionIsThatTransaction(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		db := r.AppAt(rig.At("13:00"))
		var n int
		order := func() prescient.Entity { n++; return prescient.Entity{Name: "order", Key: fmt.Sprint(n)} }
		for _, wrap := range []func(*sql.Tx) prescient.DB{
			func(tx *sql.Tx) prescient.DB { return nesting{tx, db} },
			func(tx *sql.Tx) prescient.DB { return hidden{tx, db} },
		} {
			there := order()
			r.insert(rig.At("13:00"), prescient.NewJob{Entity: there, JobExec: "check", DueAt: rig.At("14:00")})
			tx, err := db.BeginTx(t.Context(), nil)
			r.Must(err)
			defer tx.Rollback()
			handle := wrap(tx)
			_, err = r.client.Insert(t.Context(), handle, prescient.NewJob{Entity: order(), JobExec: "check", DueAt: rig.At("14:00")})
			r.Must(err)
			_, err = r.client.InsertMany(t.Context(), handle, []prescient.NewJob{{Entity: order(), JobExec: "check", DueAt: rig.At("14:00")}})
			r.Must(err)
			_, err = r.client.Insert(t.Context(), handle, prescient.NewJob{Entity: there, JobExec: "check", DueAt: rig.At("15:00"), OnPending: prescient.Replace})
			r.Must(err)
			cancelled, err := r.client.Cancel(t.Context(), handle, there)
			if err != nil || cancelled != 1 {
				t.Errorf("%T: cancelled %d, %v", handle, cancelled, err)
			}
			r.Must(tx.Rollback())
			if left := r.pending(); len(left) != 1 || left[0].EntityKey != there.Key || !left[0].DueAt.Equal(rig.At("14:00")) || len(r.history()) > 0 {
				t.Errorf("%T: the transaction was rolled back, and this is pending: %+v; %d have ended", handle, left, len(r.history()))
			}
			r.Exec("DELETE FROM p_future_job")
		}
	})
}

func TestPoolsAndConnectionsAreKnown(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		db := r.AppAt(rig.At("13:00"))
		conn, err := db.Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		other, err := sqlx.NewDb(db, "mysql").Connx(t.Context())
		r.Must(err)
		defer other.Close()
		for _, c := range []struct {
			handle              prescient.DB
			begins, callers, by bool
		}{
			{db, true, false, true},
			{sqlx.NewDb(db, "mysql"), true, false, true},
			{pooled{sqlx.NewDb(db, "mysql")}, true, false, true},
			{conn, true, true, false},
			{other, true, true, false},
			{&sql.Tx{}, false, true, false},
			{&sqlx.Tx{}, false, true, false},
			{handle.OwnTx{}, false, false, false},
			{nesting{}, false, true, false},
			{hidden{}, false, true, false},
		} {
			if _, begins := handle.BeginnerOf(c.handle); begins != c.begins || handle.IsCallersTx(c.handle) != c.callers || handle.CommitsByItself(c.handle) != c.by {
				t.Errorf("%T: begins %t, the caller's %t, commits by itself %t", c.handle, begins, handle.IsCallersTx(c.handle), handle.CommitsByItself(c.handle))
			}
		}
		// A pool that hides what it is: no statement of several is sent on it.
		r.insert(rig.At("13:00"), prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "42"}, JobExec: "check", DueAt: rig.At("14:00")})
		if _, err := r.client.Cancel(t.Context(), hidden{db, db}, prescient.Entity{Name: "order", Key: "42"}); !errors.Is(err, prescient.ErrInvalid) || !rig.Contains(err, "hidden") || len(r.pending()) != 1 {
			t.Errorf("a pool that is not known: %v, %d pending", err, len(r.pending()))
		}
	})
}
