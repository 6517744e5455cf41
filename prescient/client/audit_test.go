package client

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/audit"
	"prescient/prescient/internal/rig"
	text "prescient/sql"
)

// entries are what the audit has of a kind, the first of them first.
func (r *testRig) entries(kind audit.Kind) (all []string) {
	r.T.Helper()
	found, err := r.client.log().List(r.T.Context(), r.As("operator", time.Time{}), audit.Filter{Kind: kind})
	r.Must(err)
	for _, e := range found {
		all = append([]string{fmt.Sprintf("%s %s %s %s %s", e.Person, e.Verb, e.ID, e.Before, e.After)}, all...)
	}
	return all
}

func (r *testRig) wantEntries(what string, kind audit.Kind, want ...string) {
	r.T.Helper()
	if got := r.entries(kind); strings.Join(got, "\n") != strings.Join(want, "\n") {
		r.T.Errorf("%s:\n%s\nwant\n%s", what, strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestAnOperatorsCancelAndRescheduleLeaveEntriesAndAnAppsDoNot(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		operator := audit.With(t.Context(), audit.By{Person: "Ada", Operator: true})
		jobs := []prescient.NewJob{{Entity: rig.Order("42"), JobExec: "check", DueAt: rig.At("13:05")}, {Entity: rig.Order("42"), JobExec: "check", Tag: "a b", DueAt: rig.At("13:05")},
			{Entity: rig.Order("43"), JobExec: "check", DueAt: rig.At("13:05")}}
		app := r.AppAs("app-reschedule", rig.At("10:00"))
		do := func(ctx context.Context, db prescient.DB) {
			t.Helper()
			_, err := r.client.InsertMany(ctx, db, jobs)
			r.Must(err)
			_, err = r.client.Reschedule(ctx, db, rig.Order("42"), "check", "", rig.At("14:05"))
			r.Must(err)
			_, err = r.client.RescheduleMany(ctx, db, []NewTime{{Entity: rig.Order("43"), JobExec: "check", DueAt: rig.At("15:05")}})
			r.Must(err)
			n, err := r.client.Cancel(ctx, db, rig.Order("42"))
			if err != nil || n != 2 {
				t.Errorf("cancelled %d, %v", n, err)
			}
			n, err = r.client.CancelMany(ctx, db, []prescient.Entity{rig.Order("43"), rig.Order("44")})
			if err != nil || n != 1 {
				t.Errorf("cancelled %d, %v", n, err)
			}
		}
		do(t.Context(), app)
		do(audit.With(t.Context(), audit.By{Person: "Ada"}), app) // a person of the app's domain
		tx := rig.Begin(t, app, sql.LevelDefault)
		do(operator, tx)
		r.Must(tx.Rollback())
		r.wantEntries("an app", audit.Check)
		do(operator, app)
		const first, second, third = `{"due_at":"2026-11-20T13:05:00Z","slot":"2026-11-20T13:15:00Z"}`, `{"due_at":"2026-11-20T14:05:00Z","slot":"2026-11-20T14:15:00Z"}`, `{"due_at":"2026-11-20T15:05:00Z","slot":"2026-11-20T15:15:00Z"}`
		const gone = ` {"outcome":"cancelled"}`
		got := strings.Join(r.entries(audit.Check), "\n")
		for _, want := range []string{
			"Ada reschedule order/42 check " + first + " " + second,
			"Ada reschedule order/43 check " + first + " " + third,
			"Ada cancel order/42 check " + second + gone,
			"Ada cancel order/42 check a b " + first + gone,
			"Ada cancel order/43 check " + third + gone,
		} {
			if !strings.Contains(got, want) {
				t.Errorf("no %s in\n%s", want, got)
			}
		}
		if n := strings.Count(got, "\n") + 1; n != 5 {
			t.Errorf("%d entries; want 5", n)
		}
		if n, err := r.client.Cancel(operator, app, rig.Order("42")); n != 0 || err != nil || len(r.entries(audit.Check)) != 5 {
			t.Errorf("nothing cancelled: %d, %v, %q", n, err, r.entries(audit.Check))
		}
	})
}

func TestPausesAndRequeuesLeaveEntries(t *testing.T) {
	t.Parallel()
	eachServer(t, func(t *testing.T, r *testRig) {
		ctx := audit.With(t.Context(), audit.By{Person: "Ada", Operator: true})
		if r.Server == text.Vitess { // whose shards have pauses of their own
			rig.WantErr(t, "a pause", r.client.Pause(ctx, r.App, prescient.Paused{JobExec: "check"}), prescient.ErrInvalid)
			_, err := r.client.Resume(ctx, r.App, "check")
			rig.WantErr(t, "its end", err, prescient.ErrInvalid)
		}
		r.Needs(t, rig.OnePool)
		r.Must(r.client.Pause(ctx, r.As("operator", rig.At("12:58")), prescient.Paused{JobExec: "check", By: "me", Reason: "it's 🚢"}))
		r.Must(r.client.Pause(ctx, r.As("operator", rig.At("12:59")), prescient.Paused{JobExec: "check", By: "me"}))
		db := r.As("operator", rig.At("13:00"))
		n, err := r.client.Resume(ctx, db, "check", "other")
		if n != 1 || err != nil {
			t.Errorf("resumed %d, %v", n, err)
		}
		r.wantEntries("pauses", audit.JobExec,
			`Ada pause check  {"by":"me","reason":"it's 🚢"}`,
			`Ada pause check {"by":"me","reason":"it's 🚢"} {"by":"me"}`,
			`Ada resume check {"by":"me"} `)
		r.insert(rig.At("10:00"), prescient.NewJob{Entity: rig.Order("42"), JobExec: "check", DueAt: rig.At("13:05")})
		_, err = r.client.Cancel(t.Context(), r.AppAs("app", rig.At("10:30")), rig.Order("42"))
		r.Must(err)
		for _, dry := range []bool{true, false} {
			did, err := r.client.Requeue(ctx, db, RequeueOptions{Filter: ListFilter{Entity: rig.Order("42")}, AllOutcomes: true, Limit: 10, DryRun: dry})
			if err != nil || did.Requeued != 1 {
				t.Errorf("%+v, %v", did, err)
			}
		}
		r.wantEntries("requeue", audit.Check, `Ada requeue order/42 check {"outcome":"cancelled","ended_at":"2026-11-20T10:30:00Z"} {"due_at":"2026-11-20T13:00:00Z","slot":"2026-11-20T13:15:00Z"}`)
	})
}
