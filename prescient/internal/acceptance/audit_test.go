package acceptance

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/prescient/audit"
	"prescient/prescient/doctor"
	"prescient/prescient/event"
	"prescient/prescient/event/broker"
	"prescient/prescient/internal/rig"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

func TestADoctorFindsAnEntryOfTheAuditThatSomebodyDeleted(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		s := schedule.New(r.Client)
		app := r.AppAt(time.Now().Add(time.Minute)) // later than the migration
		later := r.AppAt(time.Now().Add(2 * time.Minute))
		var ids []string
		for i := range 8 {
			ids = append(ids, fmt.Sprint("s", i))
			_, err := s.Create(t.Context(), app, schedule.Schedule{ID: ids[i], Crontabs: []string{"0 * * * *"}, Topic: "t"})
			r.Must(err)
			r.Did(s.Pause(t.Context(), app, ids[i]))
			r.Did(s.Resume(t.Context(), app, ids[i]))
		}
		_, err := s.Delete(t.Context(), app, "s7")
		r.Must(err)
		_, err = s.Create(t.Context(), later, schedule.Schedule{ID: "s7", Crontabs: []string{"0 * * * *"}, Topic: "t"})
		r.Must(err)
		_, err = s.Delete(t.Context(), app, "s6")
		r.Must(err)
		for _, use := range []doctor.Use{doctor.UseWorker, doctor.UseOperator, doctor.UseOwner} {
			wantFound(t, r.examine(rig.At("10:01"), doctor.Options{Use: use}), "audit", doctor.SeverityOK)
		}
		forget := func(id string, version int) {
			r.Exec(fmt.Sprintf("DELETE FROM p_audit_log WHERE kind = 'schedule' AND id = '%s' AND version = %d", id, version))
		}
		forget("s0", 1)
		forget("s1", 2)
		forget("s2", 3)                                                             // the latest: no version is missing before it
		r.Exec("DELETE FROM p_audit_log WHERE id = 's3'")                           // all of them
		r.Exec("DELETE FROM p_schedule WHERE id = 's4'")                            // past the audit
		r.Exec("UPDATE p_schedule SET version = 9 WHERE id = 's5'")                 // past the audit
		forget("s6", 4)                                                             // that it was deleted
		r.Exec("UPDATE p_audit_log SET pruned = 1 WHERE id = 's1' AND version = 3") // as prune leaves it
		found := r.examine(rig.At("10:01"), doctor.Options{Use: doctor.UseWorker})
		wantFound(t, found, "audit", doctor.SeverityBad, `schedule "s0" lacks the versions before 2`)
		wantFound(t, found, "audit.versions", doctor.SeverityWarn, `"s2" (it has version 3, the audit 2)`, `"s3" (it has version 3, the audit none)`, `"s5" (it has version 9, the audit 3)`)
		wantFound(t, found, "audit.deleted", doctor.SeverityWarn, `"s4" (the audit says last: resume)`, `"s6" (the audit says last: resume)`)
		for _, f := range found {
			if f.Code == "audit" && (rig.Contains(fmt.Errorf("%s", f.Text), `"s1"`) || rig.Contains(fmt.Errorf("%s", f.Text), `"s7"`)) {
				t.Errorf("%+v", f)
			}
		}
		if foundIn(r.examine(rig.At("10:01"), doctor.Options{Use: doctor.UseApp}), "audit").Severity != doctor.SeverityUnseen {
			t.Error("an app's account looked at it")
		}
	})
}

func TestADoctorComparesJobsAndStepsWithTheAudit(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		jobs := steps.New(r.Client, steps.Options{})
		app := r.AppAt(time.Now().Add(time.Minute)) // later than the migration
		for i := range 6 {
			name := fmt.Sprint("x", i) // of the step, and of the job that has it
			_, _, err := jobs.PutStep(t.Context(), app, steps.Step{Name: name, JobExec: "a"}, 0)
			r.Must(err)
			job := steps.Job{Name: name, Crontabs: []string{"0 * * * *"}, Steps: []steps.Step{{Name: name, Shared: true}}}
			_, err = jobs.Create(t.Context(), app, job)
			r.Must(err)
			_, _, err = jobs.PutStep(t.Context(), app, steps.Step{Name: name, JobExec: "b"}, 1) // which makes a version of both
			r.Must(err)
			r.Did(jobs.Pause(t.Context(), app, name))
		}
		for _, name := range []string{"x4", "x5"} {
			_, err := jobs.Delete(t.Context(), app, name)
			r.Must(err)
			r.Must(jobs.DeleteStep(t.Context(), app, name))
		}
		for _, use := range []doctor.Use{doctor.UseWorker, doctor.UseOperator, doctor.UseOwner} {
			found, err := doctor.Examine(t.Context(), r.As(string(use), time.Time{}), doctor.Options{Prefix: "p_", Dialect: r.Setting, Use: use})
			r.Must(err)
			wantFound(t, found, "audit", doctor.SeverityOK)
		}
		of := func(found []doctor.Finding, code, kind string) (text string) {
			for _, f := range found {
				if f.Code == code && strings.HasPrefix(strings.ToLower(f.Text), kind+"s are") && strings.Contains(f.Do, "before the audit") && f.Severity == doctor.SeverityWarn {
					text += strings.TrimSuffix(f.Text, ".")
				}
			}
			return text
		}
		r.Exec("UPDATE p_job_definition SET version = 9 WHERE name = 'x0'") // past the audit
		r.Exec("UPDATE p_step_definition SET version = 8 WHERE name = 'x1'")
		r.Exec("DELETE FROM p_job_definition WHERE name = 'x2'")
		r.Exec("DELETE FROM p_step_definition WHERE name = 'x3'")
		r.Exec("DELETE FROM p_audit_log WHERE kind IN ('job', 'step') AND id = 'x4' AND verb = 'delete'")
		found := r.examine(time.Now().Add(time.Minute), doctor.Options{Use: doctor.UseWorker})
		for _, want := range []struct{ code, kind, text string }{
			{"audit.versions", "job", `Jobs are not as the audit has them: "x0" (it has version 9, the audit 2)`},
			{"audit.versions", "step", `Steps are not as the audit has them: "x1" (it has version 8, the audit 2)`},
			{"audit.deleted", "job", `Jobs are gone without an entry in the audit: "x2" (the audit says last: update), "x4" (the audit says last: update)`},
			{"audit.deleted", "step", `Steps are gone without an entry in the audit: "x3" (the audit says last: update), "x4" (the audit says last: update)`},
			{"audit.versions", "schedule", ""}, {"audit.deleted", "schedule", ""},
		} {
			if got := of(found, want.code, want.kind); inOrder(got) != inOrder(want.text) {
				t.Errorf("%s of %ss: %q; want %q", want.code, want.kind, got, want.text)
			}
		}
	})
}

// inOrder has a list of a finding in the order of the alphabet.
func inOrder(text string) string {
	what, list, _ := strings.Cut(text, ": ")
	return what + ": " + strings.Join(slices.Sorted(slices.Values(strings.Split(", "+list, ", \""))), ", ")
}

func TestMissingVersionsAreLookedForFromAPlaceOn(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		log, err := audit.Open(t.Context(), r.App, audit.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		var entries []audit.Entry
		for i := range 300 {
			entries = append(entries, audit.Entry{Kind: audit.Schedule, ID: fmt.Sprint(i / 3), Verb: "update", Version: uint64(i%3 + 1), Incarnation: rig.At("10:00")},
				audit.Entry{Kind: audit.Check, ID: fmt.Sprint(i), Verb: "cancel"})
		}
		r.Must(log.Record(t.Context(), r.App, entries...))
		r.Exec("DELETE FROM p_audit_log WHERE version = 2 AND kind = 'schedule' AND id < '5'")
		want := r.Count("SELECT COUNT(*) FROM p_audit_log WHERE version = 3 AND kind = 'schedule' AND id < '5'")
		var place audit.Place
		found, looks := 0, 0
		for done := false; !done; looks++ {
			var amiss []audit.Amiss
			amiss, place, done, err = log.Versions(t.Context(), r.As("worker", time.Time{}), place, 40)
			r.Must(err)
			found += len(amiss)
		}
		if found != want || looks < 5 {
			t.Errorf("%d are amiss by %d looks; want %d", found, looks, want)
		}
	})
}

func TestWhatIsDoneAboutEventsThatWereSetAsideIsInTheAudit(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		outbox := event.New(r.Client)
		for _, id := range []string{"1", "2", "3"} {
			r.Must(outbox.Publish(t.Context(), r.App, event.Event{ID: id, Topic: "orders.late", Key: "k" + id}))
		}
		r.Must(r.forwarder(outbox, &told{err: broker.Refused(errors.New("too large"))}).RunUntilEmpty(t.Context()))
		operator := r.As("operator", time.Time{})
		list, err := outbox.SetAside(t.Context(), operator, event.SetAsideFilter{})
		r.Must(err)
		seqs := make(map[string]uint64)
		for _, e := range list {
			seqs[e.ID] = e.Seq
		}
		ctx := audit.With(t.Context(), audit.By{Person: "ada", Reason: "it takes more now"})
		resent, err := outbox.Resend(ctx, operator, seqs["1"], seqs["2"], 4711) // one of them is not there
		r.Must(err)
		dropped, err := outbox.Drop(ctx, operator, seqs["3"])
		r.Must(err)
		again, err := outbox.Drop(ctx, operator, seqs["3"])
		r.Must(err)
		if resent != 2 || dropped != 1 || again != 0 {
			t.Errorf("%d resent, %d dropped, %d again", resent, dropped, again)
		}
		log, err := audit.Open(t.Context(), r.App, audit.Options{Prefix: "p_", Dialect: r.Setting})
		r.Must(err)
		entries, err := log.List(t.Context(), operator, audit.Filter{Kind: audit.Event})
		r.Must(err)
		var said []string
		for _, e := range entries {
			said = append(said, fmt.Sprintf("%s %s %s %s", e.Person, e.Verb, e.ID, e.Before))
			if e.Reason != "it takes more now" || e.After != nil || !strings.HasPrefix(e.Account, r.User("operator")) {
				t.Errorf("%+v", e)
			}
		}
		slices.Sort(said)
		before := func(id string) string {
			return fmt.Sprintf(`{"seq":%d,"topic":"orders.late","key":"k%s","bytes":0,"reason":"refused for good: too large"}`, seqs[id], id)
		}
		if want := []string{"ada drop 3 " + before("3"), "ada resend 1 " + before("1"), "ada resend 2 " + before("2")}; !slices.Equal(said, want) {
			t.Errorf("the audit has\n%s\nwant\n%s", strings.Join(said, "\n"), strings.Join(want, "\n"))
		}
	})
}
