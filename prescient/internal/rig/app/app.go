package app

import (
	"context"
	"database/sql/driver"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/connect"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/slots"
)

// Rig is a Rig with a client of the app.
type Rig struct {
	*rig.Rig
	Client *client.Client
}

// New makes the client, too.
func New(t *testing.T, d servertest.Database, resolution time.Duration) *Rig {
	t.Helper()
	r := &Rig{Rig: rig.New(t, d, resolution, opener)}
	var err error
	r.Client, err = client.New(t.Context(), r.App, client.Options{Prefix: "p_", Dialect: r.Setting})
	r.Must(err)
	return r
}

// Insert makes one check pending, as an app whose server's clock stands at now.
func (r *Rig) Insert(now time.Time, job prescient.NewJob) client.Inserted {
	r.T.Helper()
	role := "app"
	switch job.OnPending {
	case prescient.Replace, prescient.Earlier, prescient.Later:
		role = "app-reschedule"
	}
	did, err := r.Client.Insert(r.T.Context(), r.AppAs(role, now), job)
	r.Must(err)
	return did
}

// Pending lists all pending rows, history all ends.
func (r *Rig) Pending() []prescient.FutureJob {
	r.T.Helper()
	page, err := r.Client.Pending(context.WithoutCancel(r.T.Context()), r.As("app", time.Time{}), client.ListFilter{Limit: client.MaxPage})
	r.Must(err)
	return page
}

func (r *Rig) History() []client.Ended {
	r.T.Helper()
	page, err := r.Client.History(context.WithoutCancel(r.T.Context()), r.As("analyst", time.Time{}), client.ListFilter{Limit: client.MaxPage})
	r.Must(err)
	return page
}

// InsertDue makes n checks pending for a slot of the running clock that is just over, and returns it.
func (r *Rig) InsertDue(n int) (slot time.Time) {
	r.T.Helper()
	grid, err := slots.NewGrid(r.Client.Resolution())
	r.Must(err)
	slot = r.SlotJustOver(grid)
	r.insertAt(slot.Add(-time.Second), slot, "check", rig.Numbered(n))
	return slot
}

// One returns the one row that is pending.
func (r *Rig) One() prescient.FutureJob {
	r.T.Helper()
	rows := r.Pending()
	if len(rows) != 1 {
		r.T.Fatalf("%d rows are pending; want 1: %+v", len(rows), rows)
	}
	return rows[0]
}

// Put makes a check pending on a pool.
func (r *Rig) Put(db prescient.DB, job prescient.NewJob) {
	r.T.Helper()
	if _, err := r.Client.Insert(r.T.Context(), db, job); err != nil {
		r.T.Fatal(err)
	}
}

var opener = rig.Opener{Open: connect.Open, Connector: func(dsn string, lease time.Duration) (driver.Connector, error) {
	return connect.WorkerConnector(dsn, lease, connect.TLS{})
}}

// ManyDue makes rows pending for a slot.
func (r *Rig) ManyDue(slot time.Time, exec string, from, to int) {
	r.T.Helper()
	r.insertAt(slot.Add(-15*time.Minute), slot, exec, rig.Numbered(to)[from:])
}

// InsertAll makes checks pending at 13:15, one for each key.
func (r *Rig) InsertAll(jobExec string, keys ...string) {
	r.T.Helper()
	r.insertAt(rig.At("13:00"), rig.At("13:15"), jobExec, keys)
}

// insertAt makes checks of orders pending, by an app whose server's clock stands at now.
func (r *Rig) insertAt(now, due time.Time, jobExec string, keys []string) {
	r.T.Helper()
	jobs := make([]prescient.NewJob, len(keys))
	for i, key := range keys {
		jobs[i] = prescient.NewJob{Entity: rig.Order(key), JobExec: jobExec, DueAt: due}
	}
	_, err := r.Client.InsertMany(r.T.Context(), r.AppAt(now), jobs)
	r.Must(err)
}

// Cancels cancels the one check of an entity.
func (r *Rig) Cancels(t *testing.T, e prescient.Entity) {
	t.Helper()
	if n, err := r.Client.Cancel(context.WithoutCancel(t.Context()), r.App, e); err != nil || n != 1 {
		t.Errorf("cancelled %d, %v", n, err)
	}
}
