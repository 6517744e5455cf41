package prescient

import (
	"testing"
	"time"

	text "prescient/sql"
)

func TestAnotherResolutionThanThatOfTheTablesIsRefusedNamingBoth(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		for _, resolution := range []time.Duration{time.Second, 30 * time.Minute, 24 * time.Hour, 7 * time.Minute, -time.Minute} {
			_, err := NewClient(t.Context(), r.app, ClientOptions{Prefix: "p_", Resolution: resolution})
			wantErr(t, resolution.String(), err, ErrResolution)
			if !contains(err, resolution.String(), "15m0s") {
				t.Errorf("%v: does not name both", err)
			}
		}
		for _, resolution := range []time.Duration{0, 15 * time.Minute} {
			client, err := NewClient(t.Context(), r.app, ClientOptions{Prefix: "p_", Resolution: resolution})
			r.must(err)
			if client.Resolution() != 15*time.Minute {
				t.Errorf("resolution %s; want 15m", client.Resolution())
			}
		}
	})
}

func TestAClientNeedsTheTables(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		for _, prefix := range []string{"", "q_"} {
			_, err := NewClient(t.Context(), r.root, ClientOptions{Prefix: prefix})
			wantErr(t, "prefix "+prefix, err, ErrNotMigrated)
			if !contains(err, prefix+"slot_config") {
				t.Errorf("%v: does not name the table", err)
			}
		}
		_, err := NewClient(t.Context(), r.root, ClientOptions{Prefix: "P'; DROP"})
		wantErr(t, "prefix", err, ErrInvalid)
		_, err = NewClient(t.Context(), r.root, ClientOptions{Prefix: "p_", Guards: Guards{Horizon: -1}})
		wantErr(t, "guards", err, ErrInvalid)
		r.exec("DELETE FROM p_slot_config")
		_, err = NewClient(t.Context(), r.root, ClientOptions{Prefix: "p_"})
		wantErr(t, "empty slot_config", err, ErrNotMigrated)
	})
}

func TestTwoInstallationsShareASchemaUnderTwoPrefixes(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		_, err := text.Up(t.Context(), r.root, text.Schema{Prefix: "q_", Resolution: time.Hour})
		r.must(err)
		other, err := NewClient(t.Context(), r.root, ClientOptions{Prefix: "q_"})
		r.must(err)
		job := NewJob{Entity: order("42"), JobExec: "ship", DueAt: at("13:05"), OnPending: OnPendingError}
		r.insert(at("10:00"), job)
		did, err := other.Insert(t.Context(), r.d.Open(t, fixedClock(at("10:00"))), job)
		if err != nil || !did.Slot.Equal(at("14:00")) {
			t.Errorf("in the other installation: %+v, %v", did, err)
		}
		if n, err := other.Cancel(t.Context(), r.root, order("42")); n != 1 || err != nil {
			t.Errorf("cancelled %d, %v", n, err)
		}
		if got := r.one(); !got.NextCheckAt.Equal(at("13:15")) || len(r.history()) != 0 {
			t.Errorf("touched by the other installation: %+v", got)
		}
	})
}

func TestAClientStopsWritingWhenTheConfigurationHasChanged(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		e := order("42")
		r.insert(at("10:00"), NewJob{Entity: e, JobExec: "ship", DueAt: at("12:00")})
		before := r.one()
		r.exec("UPDATE p_slot_config SET version = version + 1")
		eachHandle(t, r.appAt(at("10:00")), func(h handle) {
			for _, job := range []NewJob{
				{Entity: e, JobExec: "pay", DueAt: at("13:00")},
				{Entity: e, JobExec: "ship", DueAt: at("13:00"), OnPending: Replace},
			} {
				_, err := r.client.Insert(t.Context(), h.db, job)
				wantErr(t, h.name, err, ErrConfigChanged)
				if !contains(err, "version 1, now 2") {
					t.Errorf("%v: does not name both versions", err)
				}
				_, err = r.client.InsertMany(t.Context(), h.db, []NewJob{job})
				wantErr(t, h.name, err, ErrConfigChanged)
			}
			_, err := r.client.Reschedule(t.Context(), h.db, e, "ship", "", at("13:00"))
			wantErr(t, h.name, err, ErrConfigChanged)
			h.done(t)
		})
		if got := r.one(); got.Revision != before.Revision {
			t.Errorf("pending is %+v; was %+v", got, before)
		}
		// A cancel places nothing, so that it may go on.
		if n, err := r.client.Cancel(t.Context(), r.app, e); n != 1 || err != nil {
			t.Errorf("cancelled %d, %v", n, err)
		}
		again, err := NewClient(t.Context(), r.app, ClientOptions{Prefix: "p_"})
		r.must(err)
		_, err = again.Insert(t.Context(), r.app, NewJob{Entity: e, JobExec: "ship", DueAt: time.Now()})
		r.must(err)
	})
}

// The resolution changes between a client's look and its write: the slot is off the new grid.
func TestASlotOffTheGridIsExplainedByTheChangeOfTheConfiguration(t *testing.T) {
	eachServer(t, func(t *testing.T, r *rig) {
		r.needs(t, changeOfResolution)
		var h hooks
		h.once("INTO p_future_job", func() {
			r.exec("ALTER TABLE p_future_job DROP CONSTRAINT p_future_job_on_grid, ADD CONSTRAINT p_future_job_on_grid" +
				" CHECK (TIMESTAMPDIFF(SECOND, TIMESTAMP'1970-01-01 00:00:00', next_check_at) % 3600 = 0)")
			r.exec("UPDATE p_slot_config SET resolution_s = 3600, version = version + 1")
		})
		_, err := r.client.Insert(t.Context(), r.hookedPool(at("10:00"), &h), NewJob{Entity: order("42"), JobExec: "ship", DueAt: at("13:05")})
		wantErr(t, "Insert", err, ErrConfigChanged)
		r.none()
	})
}
