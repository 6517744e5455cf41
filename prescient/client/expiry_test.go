package client

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/reserved"
	"prescient/prescient/internal/rig"
)

// expires fails unless the one pending row expires at a time; never where there is none.
func (r *testRig) expires(what, want string) {
	r.T.Helper()
	job := r.one()
	got := "never"
	if job.ExpiresAt != nil {
		got = job.ExpiresAt.Format("15:04:05.999999")
	}
	if got != want {
		r.T.Errorf("%s: it expires at %s; want %s", what, got, want)
	}
	same, err := r.client.Get(r.T.Context(), r.App, job.Entity(), job.JobExec, job.Tag)
	r.Must(err)
	if (same.ExpiresAt == nil) != (job.ExpiresAt == nil) || same.ExpiresAt != nil && !same.ExpiresAt.Equal(*job.ExpiresAt) {
		r.T.Errorf("%s: Get has %v, the listing %v", what, same.ExpiresAt, job.ExpiresAt)
	}
}

func expiringJob(due string, after time.Duration) prescient.NewJob {
	return prescient.NewJob{Entity: rig.Order("42"), JobExec: "check", DueAt: rig.At(due), ExpiresAfter: after}
}

func TestACheckExpiresSoLongAfterTheTimeThatWasAskedFor(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		now := rig.At("10:00")
		insert := func(what, want string, job prescient.NewJob) {
			t.Helper()
			r.insert(now, job)
			r.expires(what, want)
			r.Clear()
		}
		insert("directly", "13:05:00", expiringJob("12:05", time.Hour))
		insert("to the microsecond", "12:05:00.000001", expiringJob("12:05", time.Nanosecond))
		insert("never", "never", expiringJob("12:05", 0))
		tagged := expiringJob("12:05", time.Hour)
		tagged.Tag, tagged.Payload = "t", []byte(`{"a": 1}`)
		insert("with a tag and a payload", "13:05:00", tagged)
		spread := expiringJob("12:05", time.Hour)
		spread.Spread = 3 * time.Hour
		r.insert(now, spread)
		if job := r.one(); job.DueAt.Equal(rig.At("12:05")) || job.ExpiresAt.Sub(job.DueAt) != time.Hour {
			t.Errorf("spread: due %s, expires %s", job.DueAt, job.ExpiresAt)
		}
		r.Clear()
		insert("expired on arrival", "09:30:00", expiringJob("09:00", 30*time.Minute))
		// By the look before, in the place of another.
		r.insert(now, expiringJob("12:05", time.Hour))
		for _, c := range []struct {
			policy prescient.OnPending
			due    string
			after  time.Duration
			want   string
		}{
			{prescient.Keep, "15:00", 2 * time.Hour, "13:05:00"},
			{prescient.Later, "14:00", 2 * time.Hour, "16:00:00"},
			{prescient.Earlier, "13:00", 3 * time.Hour, "16:00:00"},
			{prescient.Replace, "13:00", 0, "never"},
			{prescient.Replace, "13:00", time.Minute, "13:01:00"},
		} {
			job := expiringJob(c.due, c.after)
			job.OnPending = c.policy
			r.insert(now, job)
			r.expires(string(c.policy), c.want)
		}
	})
}

func TestChecksInsertedTogetherHaveTheirOwnExpiries(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		jobs := make([]prescient.NewJob, 30)
		for i := range jobs {
			jobs[i] = prescient.NewJob{Entity: rig.Order(fmt.Sprint(i)), JobExec: "check", DueAt: rig.At("12:05"), ExpiresAfter: time.Duration(i%3) * time.Hour}
		}
		_, err := r.client.InsertMany(t.Context(), r.AppAt(rig.At("10:00")), jobs)
		r.Must(err)
		for _, job := range r.pending() {
			var i int
			_, err := fmt.Sscan(job.EntityKey, &i)
			r.Must(err)
			if want := prescient.ExpiresAt(job.DueAt, time.Duration(i%3)*time.Hour); (want == nil) != (job.ExpiresAt == nil) || want != nil && !want.Equal(*job.ExpiresAt) {
				t.Errorf("%d expires at %v; want %v", i, job.ExpiresAt, want)
			}
		}
	})
}

func TestARescheduleMovesTheExpiry(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.insert(rig.At("10:00"), expiringJob("12:05", time.Hour))
		for _, c := range []struct{ to, want string }{{"15:00:00.5", "16:00:00.5"}, {"11:00", "12:00:00"}, {"11:00", "12:00:00"}} {
			_, err := r.client.Reschedule(t.Context(), r.AppAs("app-reschedule", rig.At("10:00")), rig.Order("42"), "check", "", rig.At(c.to))
			r.Must(err)
			r.expires("to "+c.to, c.want)
		}
		// One that some app said never to expire.
		r.Exec("UPDATE p_future_job SET expires_at = '9999-12-31 23:59:59.999999'")
		_, err := r.client.Reschedule(t.Context(), r.AppAs("app-reschedule", rig.At("10:00")), rig.Order("42"), "check", "", rig.At("15:00"))
		r.Must(err)
		if job := r.one(); job.ExpiresAt.Year() != 9999 {
			t.Errorf("it expires at %s", job.ExpiresAt)
		}
	})
}

// Accounts that were granted their rights before there were expiries have none to the column.
func TestAnAccountOfBeforeDoesAllThatItDid(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.Accounts)
		app := r.AppAs("app-reschedule", rig.At("10:00"))
		var granted []string
		rows, err := r.Root.Query("SELECT DISTINCT grantee FROM information_schema.column_privileges WHERE table_schema = DATABASE() AND column_name = 'expires_at' AND privilege_type = 'UPDATE'")
		r.Must(err)
		defer rows.Close()
		for rows.Next() {
			var grantee string
			r.Must(rows.Scan(&grantee))
			granted = append(granted, grantee)
		}
		r.Must(rows.Err())
		if len(granted) == 0 {
			t.Fatal("nobody may update expires_at")
		}
		for _, account := range granted {
			r.Exec("REVOKE INSERT (expires_at), UPDATE (expires_at) ON p_future_job FROM " + account)
		}
		_, err = r.client.Insert(t.Context(), app, expiringJob("12:05", 0))
		r.Must(err)
		_, err = r.client.Reschedule(t.Context(), app, rig.Order("42"), "check", "", rig.At("13:00"))
		r.Must(err)
		other := expiringJob("14:00", 0)
		other.OnPending = prescient.Replace
		_, err = r.client.Insert(t.Context(), app, other)
		r.Must(err)
		r.expires("by an account of before", "never")
		other.ExpiresAfter = time.Hour
		if _, err = r.client.Insert(t.Context(), app, other); !errno.Is(err, errno.TableDenied, errno.ColumnDenied) {
			t.Errorf("an expiry without the right to it: %v", err)
		}
	})
}

func TestACancelTakesTheExpiryIntoHistory(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		rig.EachHandle(t, r.AppAt(rig.At("11:00")), func(h rig.Handle) {
			for _, execs := range [][]string{nil, {"check", "other"}} {
				r.Clear()
				r.insert(rig.At("10:00"), expiringJob("12:05", time.Hour))
				n, err := r.client.Cancel(t.Context(), h.Db, rig.Order("42"), execs...)
				r.Must(err)
				if h.Commit != nil {
					r.Must(h.Commit())
				}
				ends := r.history()
				if n != 1 || len(ends) != 1 || ends[0].ExpiresAt == nil || !ends[0].ExpiresAt.Equal(rig.At("13:05")) {
					t.Errorf("%s: cancelled %d, ends %+v", h.Name, n, ends)
				}
				if h.Commit != nil {
					return
				}
			}
		})
	})
}

func TestTheProcedureLeavesSchedulesAlone(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		r.Needs(t, rig.StoredProcedures)
		timer := prescient.NewJob{Entity: prescient.Entity{Name: prescient.ScheduleEntity, Key: "nightly"}, JobExec: "check", DueAt: rig.At("12:05")}
		r.Must(r.client.Own(reserved.Schedule()).Insert(t.Context(), r.App, []prescient.NewJob{timer}, rig.At("10:00")))
		var refused *mysql.MySQLError
		if n, err := rig.Call(t.Context(), r.App, "schedule", "nightly", nil); !errors.As(err, &refused) || string(refused.SQLState[:]) != "45000" || !strings.Contains(refused.Message, "their own commands") {
			t.Errorf("cancelled %d, %v", n, err)
		}
		if n, err := rig.Call(t.Context(), r.App, "schedules", "nightly", nil); n != 0 || err != nil {
			t.Errorf("another entity: cancelled %d, %v", n, err)
		}
	})
}

func TestARequeuedCheckExpiresAsLateAsBefore(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		for _, c := range []struct {
			key     string
			expires time.Duration
		}{{"never", 0}, {"late", time.Hour}, {"before", -time.Hour}} {
			job := ended(c.key, "check")
			if c.expires != 0 {
				job.ExpiresAt = prescient.At(job.DueAt.Add(c.expires))
			}
			r.endAs(job, prescient.Expired, rig.At("09:30"))
		}
		if ends, err := r.client.History(t.Context(), r.As("analyst", time.Time{}), ListFilter{Outcome: prescient.Expired}); err != nil || len(ends) != 3 {
			t.Errorf("%d ends, %v", len(ends), err)
		}
		did := r.requeue(rig.At("10:05"), RequeueOptions{Filter: ListFilter{Outcome: prescient.Expired, From: rig.At("08:00")}, Limit: 10})
		if did.Requeued != 3 {
			t.Errorf("%+v", did)
		}
		for _, job := range r.pending() {
			want := map[string]*time.Time{"late": prescient.At(job.DueAt.Add(time.Hour)), "before": prescient.At(job.DueAt.Add(time.Microsecond))}[job.EntityKey]
			if (want == nil) != (job.ExpiresAt == nil) || want != nil && !want.Equal(*job.ExpiresAt) {
				t.Errorf("%s expires at %v; want %v", job.EntityKey, job.ExpiresAt, want)
			}
		}
	})
}
