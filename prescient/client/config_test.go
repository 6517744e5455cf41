package client

import (
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/store"
	"prescient/sql/migrate"
)

func TestAnotherResolutionThanThatOfTheTablesIsRefusedNamingBoth(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		for said, resolution := range map[string]time.Duration{"1s": time.Second, "30m": 30 * time.Minute, "24h": 24 * time.Hour, "7m": 7 * time.Minute, "-1m": -time.Minute} {
			_, err := New(t.Context(), r.App, Options{Prefix: "p_", Dialect: r.Setting, Resolution: resolution})
			rig.WantErr(t, resolution.String(), err, prescient.ErrResolution)
			if !rig.Contains(err, "not "+said, "have 15m") {
				t.Errorf("%v: does not name both", err)
			}
		}
		for _, resolution := range []time.Duration{0, 15 * time.Minute} {
			client, err := New(t.Context(), r.App, Options{Prefix: "p_", Dialect: r.Setting, Resolution: resolution})
			r.Must(err)
			if client.Resolution() != 15*time.Minute {
				t.Errorf("resolution %s; want 15m", client.Resolution())
			}
		}
	})
}

func TestAClientNeedsTheTables(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, prefix := range []string{"", "q_"} {
			_, err := New(t.Context(), r.Root, Options{Prefix: prefix})
			rig.WantErr(t, "prefix "+prefix, err, prescient.ErrNotMigrated)
			if !rig.Contains(err, prefix+"slot_config") {
				t.Errorf("%v: does not name the table", err)
			}
		}
		_, err := New(t.Context(), r.Root, Options{Prefix: "P'; DROP"})
		rig.WantErr(t, "prefix", err, prescient.ErrInvalid)
		_, err = New(t.Context(), r.Root, Options{Prefix: "p_", Guards: prescient.Guards{Horizon: -1}})
		rig.WantErr(t, "guards", err, prescient.ErrInvalid)
		r.Exec("DELETE FROM p_slot_config")
		_, err = New(t.Context(), r.Root, Options{Prefix: "p_"})
		rig.WantErr(t, "empty slot_config", err, prescient.ErrNotMigrated)
	})
}

func TestTwoInstallationsShareASchemaUnderTwoPrefixes(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.OnePool)
		_, err := migrate.Up(t.Context(), r.Root, migrate.Schema{Prefix: "q_", Resolution: time.Hour})
		r.Must(err)
		other, err := New(t.Context(), r.Root, Options{Prefix: "q_"})
		r.Must(err)
		job := prescient.NewJob{Entity: rig.Order("42"), JobExec: "ship", DueAt: rig.At("13:05"), OnPending: prescient.OnPendingError}
		r.insert(rig.At("10:00"), job)
		did, err := other.Insert(t.Context(), r.D.Open(t, rig.FixedClock(rig.At("10:00"))), job)
		if err != nil || !did.Slot.Equal(rig.At("14:00")) {
			t.Errorf("in the other installation: %+v, %v", did, err)
		}
		if n, err := other.Cancel(t.Context(), r.Root, rig.Order("42")); n != 1 || err != nil {
			t.Errorf("cancelled %d, %v", n, err)
		}
		if got := r.one(); !got.NextCheckAt.Equal(rig.At("13:15")) || len(r.history()) != 0 {
			t.Errorf("touched by the other installation: %+v", got)
		}
	})
}

func TestAClientStopsWritingWhenTheConfigurationHasChanged(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		e := rig.Order("42")
		r.insert(rig.At("10:00"), prescient.NewJob{Entity: e, JobExec: "ship", DueAt: rig.At("12:00")})
		before := r.one()
		r.Exec("UPDATE p_slot_config SET version = version + 1")
		r.client.lately.looked(time.Now().Add(-store.VersionLasts))
		rig.EachHandle(t, r.AppAt(rig.At("10:00")), func(h rig.Handle) {
			for _, job := range []prescient.NewJob{
				{Entity: e, JobExec: "pay", DueAt: rig.At("13:00")},
				{Entity: e, JobExec: "ship", DueAt: rig.At("13:00"), OnPending: prescient.Replace},
			} {
				_, err := r.client.Insert(t.Context(), h.Db, job)
				rig.WantErr(t, h.Name, err, prescient.ErrConfigChanged)
				if !rig.Contains(err, "version 1 and is at 2") {
					t.Errorf("%v: does not name both versions", err)
				}
				_, err = r.client.InsertMany(t.Context(), h.Db, []prescient.NewJob{job})
				rig.WantErr(t, h.Name, err, prescient.ErrConfigChanged)
			}
			_, err := r.client.Reschedule(t.Context(), h.Db, e, "ship", "", rig.At("13:00"))
			rig.WantErr(t, h.Name, err, prescient.ErrConfigChanged)
			h.Done(t)
		})
		if got := r.one(); got.Revision != before.Revision {
			t.Errorf("pending is %+v; was %+v", got, before)
		}
		// A cancel places nothing, so that it may go on.
		if n, err := r.client.Cancel(t.Context(), r.App, e); n != 1 || err != nil {
			t.Errorf("cancelled %d, %v", n, err)
		}
		again, err := New(t.Context(), r.App, Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		_, err = again.Insert(t.Context(), r.App, prescient.NewJob{Entity: e, JobExec: "ship", DueAt: time.Now()})
		r.Must(err)
	})
}

// The resolution changes between a client's read and its write: the slot is off the new grid.
func TestASlotOffTheGridIsExplainedByTheChangeOfTheConfiguration(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ChangeOfResolution)
		var h rig.Hooks
		h.Once("INTO p_future_job", func() {
			r.Exec("ALTER TABLE p_future_job DROP CONSTRAINT p_future_job_on_grid, ADD CONSTRAINT p_future_job_on_grid" +
				" CHECK (TIMESTAMPDIFF(SECOND, TIMESTAMP'1970-01-01 00:00:00', next_check_at) % 3600 = 0)")
			r.Exec("UPDATE p_slot_config SET resolution_s = 3600, version = version + 1")
		})
		_, err := r.client.Insert(t.Context(), r.HookedPool(rig.At("10:00"), &h), prescient.NewJob{Entity: rig.Order("42"), JobExec: "ship", DueAt: rig.At("13:05")})
		rig.WantErr(t, "Insert", err, prescient.ErrConfigChanged)
		r.none()
	})
}
