package client

import (
	"context"
	"database/sql/driver"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client/internal/rowtext"
	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
)

// testRig is the rig of this room.
type testRig struct {
	*rig.Rig
	client *Client
}

func eachServer(t *testing.T, test func(t *testing.T, r *testRig)) {
	eachServerAt(t, 15*time.Minute, test)
}

func eachServerAt(t *testing.T, resolution time.Duration, test func(t *testing.T, r *testRig)) {
	servertest.Each(t, func(t *testing.T, d servertest.Database) { test(t, newRig(t, d, resolution)) })
}

func newRig(t *testing.T, d servertest.Database, resolution time.Duration) *testRig {
	t.Helper()
	r := &testRig{Rig: rig.New(t, d, resolution, opener)}
	var err error
	r.client, err = New(t.Context(), r.App, Options{Prefix: "p_", Dialect: r.Setting})
	r.Must(err)
	return r
}

// insert makes one check pending, directly where that can be, as an app whose server's clock stands at now.
func (r *testRig) insert(now time.Time, job prescient.NewJob) Inserted {
	r.T.Helper()
	role := "app"
	switch job.OnPending {
	case prescient.Replace, prescient.Earlier, prescient.Later:
		role = "app-reschedule"
	}
	r.client.lately.mu.Lock()
	r.client.lately.looksFirst = nil
	r.client.lately.mu.Unlock()
	did, err := r.client.Insert(r.T.Context(), r.AppAs(role, now), job)
	r.Must(err)
	return did
}

// pending lists all pending rows, history all ends.
func (r *testRig) pending() []prescient.FutureJob {
	r.T.Helper()
	page, err := r.client.Pending(context.WithoutCancel(r.T.Context()), r.As("app", time.Time{}), ListFilter{Limit: MaxPage})
	r.Must(err)
	return page
}

func (r *testRig) history() []Ended {
	r.T.Helper()
	page, err := r.client.History(context.WithoutCancel(r.T.Context()), r.As("analyst", time.Time{}), ListFilter{Limit: MaxPage})
	r.Must(err)
	return page
}

// one returns the one row that is pending.
func (r *testRig) one() prescient.FutureJob {
	r.T.Helper()
	rows := r.pending()
	if len(rows) != 1 {
		r.T.Fatalf("%d rows are pending; want 1: %+v", len(rows), rows)
	}
	return rows[0]
}

// none fails where something is pending or in history.
func (r *testRig) none() {
	r.T.Helper()
	if pending, ended := r.pending(), r.Count(rig.CountEnded); len(pending)+ended > 0 {
		r.T.Fatalf("pending: %+v; in history: %d; want nothing", pending, ended)
	}
}

// put makes a check pending on a pool.
func (r *testRig) put(db prescient.DB, job prescient.NewJob) {
	r.T.Helper()
	if _, err := r.client.Insert(r.T.Context(), db, job); err != nil {
		r.T.Fatal(err)
	}
}

// rows reads what is pending in the order of the keys, on the rig's own connections.
func (r *testRig) rows() []prescient.FutureJob {
	r.T.Helper()
	rows, err := r.client.find(context.WithoutCancel(r.T.Context()), r.App, rowtext.Columns, "1 = 1", false)
	r.Must(err)
	return rows
}

var opener = rig.Opener{Open: connect.Open, Connector: func(dsn string, lease time.Duration) (driver.Connector, error) {
	return connect.WorkerConnector(dsn, lease, connect.TLS{})
}}

func TestMain(m *testing.M) { servertest.Main(m) }
