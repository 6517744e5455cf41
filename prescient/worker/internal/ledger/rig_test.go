package ledger

import (
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/internal/store"
	"prescient/prescient/localserver/servertest"
)

func TestMain(m *testing.M) { servertest.Main(m) }

// testRig is the rig of this room.
type testRig struct{ *app.Rig }

func eachServer(t *testing.T, test func(t *testing.T, r *testRig)) {
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, &testRig{app.New(t, d, 15*time.Minute)}) })
}

// ledger is that of a worker with a name.
func (r *testRig) ledger(name string, db *sqlx.DB, batch, parallel int) *Ledger {
	r.T.Helper()
	return &Ledger{Send: &store.Sender{DB: db, Timeout: store.StatementTime(prescient.DefaultLease), Patience: 2 * time.Minute}, Tables: r.Tables(),
		Worker: name, TTL: prescient.DefaultLease, Batch: batch, Parallel: parallel}
}

// insertOrders makes n checks pending for 13:15.
func (r *testRig) insertOrders(n int) {
	r.T.Helper()
	r.InsertAll("check", rig.Numbered(n)...)
}
