package acceptance

import (
	"fmt"
	"testing"
	"time"

	"prescient/prescient/audit"
	"prescient/prescient/doctor"
	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
)

func TestADoctorFindsAnEntryOfTheAuditThatSomebodyDeleted(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		s := schedule.New(r.Client)
		app := r.AppAt(time.Now().Add(time.Minute)) // later than the migration
		var ids []string
		for i := range 8 {
			ids = append(ids, fmt.Sprint("s", i))
			_, err := s.Create(t.Context(), app, schedule.Schedule{ID: ids[i], Crontabs: []string{"0 * * * *"}, Topic: "t"})
			r.Must(err)
			r.Must(s.Pause(t.Context(), app, ids[i]))
			r.Must(s.Resume(t.Context(), app, ids[i]))
		}
		_, err := s.Delete(t.Context(), app, "s7")
		r.Must(err)
		_, err = s.Create(t.Context(), app, schedule.Schedule{ID: "s7", Crontabs: []string{"0 * * * *"}, Topic: "t"})
		r.Must(err)
		_, err = s.Delete(t.Context(), app, "s6")
		r.Must(err)
		for _, use := range []doctor.Use{doctor.UseWorker, doctor.UseOperator, doctor.UseOwner} {
			wantFound(t, r.examine(rig.At("10:01"), doctor.Options{Use: use}), "audit", doctor.SeverityOK)
		}
		forget := func(id string, seq int) {
			r.Exec(fmt.Sprintf("DELETE FROM p_audit_log WHERE kind = 'schedule' AND id = '%s' AND seq = %d", id, seq))
		}
		forget("s0", 1)
		forget("s1", 2)
		forget("s2", 3)                                                         // the latest: no gap, but another version
		r.Exec("DELETE FROM p_audit_log WHERE id = 's3'")                       // all of them
		r.Exec("DELETE FROM p_schedule WHERE id = 's4'")                        // past the audit
		r.Exec("UPDATE p_schedule SET version = 9 WHERE id = 's5'")             // past the audit
		forget("s6", 4)                                                         // that it was deleted
		r.Exec("UPDATE p_audit_log SET pruned = 1 WHERE id = 's1' AND seq = 3") // as prune leaves it
		found := r.examine(rig.At("10:01"), doctor.Options{Use: doctor.UseWorker})
		wantFound(t, found, "audit", doctor.SeverityBad, `schedule "s0" has the numbers 2 to 3, but 2 entries`)
		wantFound(t, found, "audit.versions", doctor.SeverityWarn, `"s2" (it has version 3, the audit 2)`, `"s3" (it has version 3, the audit none)`, `"s5" (it has version 9, the audit 3)`)
		wantFound(t, found, "audit.deleted", doctor.SeverityWarn, `"s4" (the audit says last: resume)`, `"s6" (the audit says last: resume)`)
		for _, f := range found {
			if f.Code == "audit" && (rig.Contains(fmt.Errorf("%s", f.Text), `"s1"`) || rig.Contains(fmt.Errorf("%s", f.Text), `"s7"`)) {
				t.Errorf("%+v", f)
			}
		}
		if foundIn(r.examine(rig.At("10:01"), doctor.Options{Use: doctor.UseApp}), "audit").Unseen == false {
			t.Error("an app's account looked at it")
		}
	})
}

func TestGapsGoOnFromAPlace(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		log, err := audit.Open(t.Context(), r.App, audit.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		var entries []audit.Entry
		for i := range 300 {
			entries = append(entries, audit.Entry{Kind: audit.Check, ID: fmt.Sprint(i / 3), Verb: "cancel"})
		}
		r.Must(log.Record(t.Context(), r.App, entries...))
		r.Exec("DELETE FROM p_audit_log WHERE seq = 2 AND kind = 'check' AND id < '5'")
		want := r.Count("SELECT COUNT(*) FROM p_audit_log WHERE seq = 3 AND kind = 'check' AND id < '5'")
		var place audit.Place
		found, looks := 0, 0
		for done := false; !done; looks++ {
			var gaps []audit.Gap
			gaps, place, done, err = log.Gaps(t.Context(), r.As("worker", time.Time{}), place, 40)
			r.Must(err)
			found += len(gaps)
		}
		if found != want || looks < 5 {
			t.Errorf("%d gaps by %d looks; want %d", found, looks, want)
		}
	})
}
