package schedule_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
)

// kept are the versions of a schedule that are kept, the latest first, each with its payload.
func (r *testRig) kept(id string) (all []string) {
	r.T.Helper()
	found, err := r.schedules.Versions(r.T.Context(), r.app("12:00"), id, true)
	r.Must(err)
	for _, v := range found {
		all = append(all, fmt.Sprintf("%d %s", v.Version, v.Payload))
	}
	return all
}

func (r *testRig) wantKept(id string, want ...string) {
	r.T.Helper()
	if kept := r.kept(id); !slices.Equal(kept, want) {
		r.T.Errorf("of %s %q is kept; want %q", id, kept, want)
	}
}

// Whichever door changes a schedule: what it was stays, and can be gone back to.
func TestEachChangeKeepsWhatTheScheduleWas(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		ctx := t.Context()
		one := schedule.Schedule{ID: "a", Crontabs: []string{"0 * * * *", "30 8 * * mon"}, Zone: "Europe/Berlin", JobExec: "digest", Payload: []byte("one"), Owner: prescient.Entity{Name: "user", Key: "7"},
			CatchUp: schedule.All, CatchUpWithin: time.Hour, ExpiresAfter: 2 * time.Hour, Jitter: time.Minute, Long: true, Overlap: "queue", Tolerance: time.Second, Quota: schedule.NoQuota, Pool: "gpu", Heartbeat: "h"}
		r.create("10:00", one)
		r.wantKept("a")
		two := one
		two.Payload = []byte("two")
		r.update("10:01", two)
		r.wantKept("a", "1 one")
		r.Did(r.schedules.Pause(ctx, r.app("10:02"), "a"))
		r.Did(r.schedules.Resume(ctx, r.app("10:03"), "a"))
		r.wantKept("a", "1 one")
		three := schedule.Wanted{Schedule: schedule.Schedule{ID: "a", Crontabs: []string{"@daily"}, Topic: "t", Owner: one.Owner}}
		_, changed, err := r.schedules.Put(ctx, r.app("10:04"), []schedule.Wanted{three}, true)
		if r.Must(err); changed != 1 {
			t.Errorf("%d changed", changed)
		}
		r.wantKept("a", "4 two", "1 one")
		// 2 and 3 were a pause and a resume.
		for version, payload := range map[uint64]string{1: "one", 2: "two", 3: "two", 4: "two", 5: ""} {
			v, err := r.schedules.GetVersion(ctx, r.app("10:05"), "a", schedule.Which{Version: version}, true)
			if err != nil || string(v.Payload) != payload {
				t.Errorf("version %d: %+v, %v", version, v, err)
			}
		}
		changed2, err := r.schedules.GoBack(ctx, r.app("10:06"), "a", schedule.Which{Version: 1}, 5)
		is, err2 := r.schedules.Get(ctx, r.app("10:06"), "a")
		if err != nil || err2 != nil || !changed2 || fmt.Sprintf("%+v", is.Schedule) != fmt.Sprintf("%+v", one) || is.Version != 6 {
			t.Errorf("%t: %+v, %v, %v; want it as it was: %+v", changed2, is, err, err2, one)
		}
		r.wantKept("a", "5 ", "4 two", "1 one")
		_, err = r.schedules.GoBack(ctx, r.app("10:06"), "a", schedule.Which{Version: 1}, 5)
		rig.WantErr(t, "a version that it has no more", err, schedule.ErrStale)
		_, err = r.schedules.GoBack(ctx, r.app("10:06"), "a", schedule.Which{Version: 99}, 0)
		rig.WantErr(t, "a version that never was", err, schedule.ErrNotFound)

		// One that is deleted can come again, by either way.
		_, err = r.schedules.Delete(ctx, r.app("10:07"), "a")
		r.Must(err)
		r.wantKept("a", "6 one", "5 ", "4 two", "1 one")
		_, err = r.schedules.GoBack(ctx, r.app("10:08"), "a", schedule.Which{Version: 4}, 0)
		r.Must(err)
		if is, err = r.schedules.Get(ctx, r.app("10:08"), "a"); err != nil || string(is.Payload) != "two" || is.Version != 1 {
			t.Errorf("%+v, %v", is, err)
		}
		if r.Server.Placed() {
			return // which ends here where there is no CALL
		}
		r.Exec("CALL p_delete_schedules('user', '7')")
		r.wantKept("a", "1 two", "6 one", "5 ", "4 two", "1 one")
		v, err := r.schedules.GetVersion(ctx, r.app("10:09"), "a", schedule.Which{Version: 1, CreatedAt: rig.At("10:00")}, true)
		if err != nil || string(v.Payload) != "one" {
			t.Errorf("%+v, %v; want that of the one before", v, err)
		}
	})
}

// What plain SQL has written is kept by the change that comes after it.
func TestTheChangeAfterPlainSQLKeepsWhatThatWrote(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.Exec("INSERT INTO p_schedule (id, crontabs, job_exec, payload) VALUES ('a', '0 * * * *', 'digest', 'inserted')")
		r.Exec("UPDATE p_schedule SET payload = 'altered'")
		r.update("10:01", schedule.Schedule{ID: "a", Crontabs: []string{"0 * * * *"}, JobExec: "digest", Payload: []byte("ours")})
		r.wantKept("a", "0 altered")
		// A row that an app has put in the way stops no change.
		r.Exec("INSERT INTO p_schedule_version (schedule, created_at, version, ended_at, crontabs, zone, job_exec, topic, owner_name, owner_key, catch_up, may_coalesce, is_long, pool, heartbeat) " +
			"SELECT id, created_at, version, UTC_TIMESTAMP(6), '0 0 * * *', 'UTC', 'other', '', '', '', 'once', 0, 0, '', '' FROM p_schedule")
		r.update("10:02", schedule.Schedule{ID: "a", Crontabs: []string{"0 * * * *"}, JobExec: "digest", Payload: []byte("later")})
		r.wantKept("a", "1 ", "0 altered")
	})
}

// A payload of a megabyte, of whatever bytes, comes back whole; a list has its digest.
func TestALongPayloadComesBackWhole(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *testRig) {
		ctx := t.Context()
		one := schedule.Schedule{ID: "a", Crontabs: []string{"0 * * * *"}, JobExec: "digest", Payload: bytes.Repeat([]byte("\x00\xff'\\\r\n"), schedule.MaxPayload/6)}
		r.create("10:00", one)
		short := one
		short.Payload = nil
		r.update("10:01", short)
		found, err := r.schedules.Versions(ctx, r.app("10:02"), "a", true)
		if err != nil || len(found) != 1 || found[0].Payload != nil || found[0].Bytes != len(one.Payload) || len(found[0].Digest) != 32 {
			t.Errorf("%d found, %v", len(found), err)
		}
		_, err = r.schedules.GoBack(ctx, r.app("10:03"), "a", schedule.Which{Version: 1}, 2)
		r.Must(err)
		if is, err := r.schedules.Get(ctx, r.app("10:03"), "a"); err != nil || !bytes.Equal(is.Payload, one.Payload) {
			t.Errorf("%d bytes, %v", len(is.Payload), err)
		}
		if v, err := r.schedules.GetVersion(ctx, r.app("10:03"), "a", schedule.Which{Version: 1}, false); err != nil || v.Payload != nil {
			t.Errorf("%d bytes, %v", len(v.Payload), err)
		}
	})
}

// The last are kept, and whoever forgets the first holds up nobody: an app's transaction may stay open for minutes.
func TestTheLastVersionsAreKeptAndNobodyWaitsForThat(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		ctx := t.Context()
		numbered := func(id string, n int) schedule.Schedule {
			return schedule.Schedule{ID: id, Crontabs: []string{"0 * * * *"}, JobExec: "digest", Payload: fmt.Append(nil, n)}
		}
		for _, id := range []string{"a", "b", "c"} {
			r.create("10:00", numbered(id, 0))
			r.Did(r.schedules.Pause(ctx, r.app("10:00"), id)) // a timer that is moved has locks of its own
		}
		tx, err := r.app("10:01").BeginTx(ctx, nil)
		r.Must(err)
		defer tx.Rollback()
		for n := range schedule.MaxVersions + 3 {
			_, err := r.schedules.Update(ctx, tx, numbered("b", n+1))
			r.Must(err)
		}
		other, err := r.app("10:01").Conn(ctx)
		r.Must(err)
		defer other.Close()
		_, err = other.ExecContext(ctx, "SET SESSION innodb_lock_wait_timeout = 1")
		r.Must(err)
		for n := range 3 {
			for _, id := range []string{"a", "c"} {
				if _, err := r.schedules.Update(ctx, other, numbered(id, n+1)); err != nil {
					t.Errorf("%s beside an open transaction: %v", id, err)
				}
			}
		}
		r.Must(tx.Commit())
		kept := r.kept("b")
		if len(kept) != schedule.MaxVersions || kept[0] != fmt.Sprintf("%d %d", schedule.MaxVersions+4, schedule.MaxVersions+2) {
			t.Errorf("%d are kept: %s", len(kept), strings.Join(kept, ", "))
		}
		r.wantKept("a", "4 2", "3 1", "2 0")
	})
}
