package ops_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/attest"
	"prescient/prescient/forecast"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/served"
	"prescient/prescient/internal/rig/whole"
	"prescient/prescient/ops"
	"prescient/prescient/worker"
)

// served15 runs the slots of 13:00 and 13:15, in which 20 good checks end and 6 bad ones fail, and leaves 3 pending for 14:00.
func served15(t *testing.T, r *served.Rig) *ops.Ops {
	t.Helper()
	w := whole.Rig{Rig: r.Rig}
	registry := rig.Registry("good", rig.NothingToDo, prescient.Guards{})
	r.Must(registry.Register("bad", func(_ context.Context, job prescient.FutureJob) (*time.Time, error) {
		return nil, errors.New("order " + job.EntityKey + " has no row")
	}, prescient.Guards{MaxErrors: prescient.None}))
	w.ManyDue(rig.At("13:00"), "good", 0, 20)
	w.ManyDue(rig.At("13:15"), "bad", 100, 106)
	w.ManyDue(rig.At("14:00"), "good", 200, 203)
	for _, at := range []string{"13:00", "13:15"} {
		w.RunAt(rig.At(at), registry, worker.Options{Name: "w1"})
	}
	return r.OpsAt(rig.At("13:31"))
}

func TestSlotsAndLedgerAreListed(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		o, by := served15(t, r), served.By(ops.Viewer)
		load, err := ops.LoadSlots.Do(t.Context(), o, by, ops.SlotsAsked{Paging: ops.Paging{Limit: 10}})
		r.Must(err)
		if len(load.Rows) != 1 || load.Next != "" || load.Rows[0].Jobs != 3 || load.Rows[0].State != "coming" || !load.Rows[0].Slot.Equal(rig.At("14:00")) {
			t.Errorf("%+v", load)
		}
		r.Insert(rig.At("10:00"), prescient.NewJob{Entity: rig.Order("1"), JobExec: "good", DueAt: rig.At("13:29")})
		r.Insert(rig.At("10:00"), prescient.NewJob{Entity: rig.Order("2"), JobExec: "good", DueAt: rig.At("12:29")})
		// Others of the role share an answer for a moment.
		again, err := ops.LoadSlots.Do(t.Context(), o, ops.Caller{Name: "another", Role: ops.Viewer}, ops.SlotsAsked{Paging: ops.Paging{Limit: 10}})
		r.Must(err)
		others, err := ops.LoadSlots.Do(t.Context(), o, served.By(ops.Operator), ops.SlotsAsked{Paging: ops.Paging{Limit: 10}})
		r.Must(err)
		if len(again.Rows) != 1 || len(others.Rows) != 3 {
			t.Errorf("shared: %+v; another role: %+v", again, others)
		}
		_, err = ops.CancelChecks.Do(t.Context(), o, served.By(ops.Operator), ops.Cancelling{Entity: "order/none"})
		r.Must(err)
		if after, err := ops.LoadSlots.Do(t.Context(), o, by, ops.SlotsAsked{Paging: ops.Paging{Limit: 10}}); err != nil || len(after.Rows) != 3 {
			t.Errorf("after a deed: %+v, %v", after, err)
		}
		var slots []string
		asked := ops.SlotsAsked{Paging: ops.Paging{Limit: 1}}
		for range 3 {
			page, err := ops.LoadSlots.Do(t.Context(), o, by, asked)
			r.Must(err)
			for _, l := range page.Rows {
				slots = append(slots, fmt.Sprintf("%s %s %d", l.Slot.Format("15:04"), l.State, l.Jobs))
			}
			if asked.After = page.Next; asked.After == "" {
				break
			}
		}
		if got := strings.Join(slots, ", "); got != "12:30 overdue 1, 13:30 now 1, 14:00 coming 3" || asked.After != "" {
			t.Errorf("%s; then %q", got, asked.After)
		}
		ledger, err := ops.ListLedger.Do(t.Context(), o, by, ops.LedgerAsked{Paging: ops.Paging{Limit: 1}})
		r.Must(err)
		if b := ledger.Rows[0]; !b.Slot.Equal(rig.At("13:15")) || b.Ends[prescient.Failed]+b.Ends[prescient.Done] == 0 || b.Worker != "w1" || b.By != "run" || b.FinishedAt == nil || b.LatenessMS == nil || ledger.Next == "" {
			t.Errorf("%+v", ledger)
		}
		all := map[prescient.Outcome]int64{}
		for asked := (ops.LedgerAsked{Paging: ops.Paging{Limit: 1}}); ; {
			page, err := ops.ListLedger.Do(t.Context(), o, by, asked)
			r.Must(err)
			for _, b := range page.Rows {
				for outcome, n := range b.Ends {
					all[outcome] += n
				}
			}
			if asked.After = page.Next; asked.After == "" {
				break
			}
		}
		if all[prescient.Done] != 20 || all[prescient.Failed] != 6 || len(all) != 2 {
			t.Errorf("%+v", all)
		}
		one, err := ops.ListLedger.Do(t.Context(), o, by, ops.LedgerAsked{Slot: rig.At("13:00"), Paging: ops.Paging{Limit: 1000}})
		r.Must(err)
		for _, b := range one.Rows {
			if !b.Slot.Equal(rig.At("13:00")) || b.Held {
				t.Errorf("%+v", b)
			}
		}
		if len(one.Rows) == 0 {
			t.Error("nothing of 13:00")
		}
		early := time.Date(12, 1, 1, 0, 0, 0, 0, time.UTC)
		for _, wrong := range []ops.LedgerAsked{{Paging: ops.Paging{After: "x", Limit: 1}}, {Paging: ops.Paging{After: "2026-11-20 13:00:00/-1", Limit: 1}}, {Slot: early, Paging: ops.Paging{Limit: 1}},
			{Slot: rig.At("13:00"), SlotSpan: ops.SlotSpan{From: rig.At("12:00")}, Paging: ops.Paging{Limit: 1}}, {Paging: ops.Paging{Limit: 10_000}}} {
			if _, err := ops.ListLedger.Do(t.Context(), o, by, wrong); !errors.Is(err, prescient.ErrInvalid) {
				t.Errorf("%+v: %v", wrong, err)
			}
		}
		for _, wrong := range []ops.SlotsAsked{{Paging: ops.Paging{After: "x", Limit: 1}}, {SlotSpan: ops.SlotSpan{Before: early}, Paging: ops.Paging{Limit: 1}}} {
			if _, err := ops.LoadSlots.Do(t.Context(), o, by, wrong); !errors.Is(err, prescient.ErrInvalid) {
				t.Errorf("%+v: %v", wrong, err)
			}
		}
	})
}

func TestFiguresAreToldByJobExec(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		o, by := served15(t, r), served.By(ops.Viewer)
		report, err := ops.StatsOfExecs.Do(t.Context(), o, by, ops.StatsAsked{})
		r.Must(err)
		if len(report.Execs) != 2 || report.Execs[0].JobExec != "bad" || report.Execs[0].Errors != 6 || !report.Before.Equal(rig.At("13:31")) {
			t.Errorf("%+v", report)
		}
		report, err = ops.StatsOfExecs.Do(t.Context(), o, by, ops.StatsAsked{From: rig.At("13:00"), Before: rig.At("13:30"), JobExec: "good"})
		r.Must(err)
		if len(report.Execs) != 1 || report.Execs[0].Calls != 20 {
			t.Errorf("%+v", report)
		}
		_, err = ops.StatsOfExecs.Do(t.Context(), o, by, ops.StatsAsked{From: rig.At("13:30"), Before: rig.At("13:00")})
		rig.WantErr(t, "a span that ends before it begins", err, prescient.ErrInvalid)
		times, err := ops.StatsPercentiles.Do(t.Context(), o, by, ops.PercentilesAsked{})
		r.Must(err)
		if times.Execs == nil || !times.From.Equal(rig.At("13:31").Add(-7*24*time.Hour)) {
			t.Errorf("%+v", times)
		}
		_, err = ops.StatsPercentiles.Do(t.Context(), o, by, ops.PercentilesAsked{From: rig.At("15:00"), Before: rig.At("13:00")})
		rig.WantErr(t, "a span that ends before it begins", err, prescient.ErrInvalid)
		days, err := ops.StatsDays.Do(t.Context(), o, by, ops.DaysAsked{})
		r.Must(err)
		one, err := ops.StatsDays.Do(t.Context(), o, by, ops.DaysAsked{JobExec: "good"})
		r.Must(err)
		if midnight := rig.At("00:00"); days.Days == nil || !days.Before.Equal(midnight) || days.Before.Sub(days.From) != 7*24*time.Hour || one.Before.Sub(one.From) != 35*24*time.Hour {
			t.Errorf("%+v, %+v", days, one)
		}
		_, err = ops.StatsDays.Do(t.Context(), o, by, ops.DaysAsked{From: rig.At("00:00").AddDate(0, 0, -20)})
		rig.WantErr(t, "too many days", err, prescient.ErrInvalid)
		slower, err := ops.StatsSlower.Do(t.Context(), o, by, ops.ExecAsked{})
		r.Must(err)
		if slower.Slower == nil {
			t.Errorf("%+v", slower)
		}
		execs, err := ops.ListExecs.Do(t.Context(), o, by, ops.ExecsAsked{Paging: ops.Paging{Limit: 1}})
		r.Must(err)
		if len(execs.Rows) != 1 || execs.Rows[0].JobExec != "bad" || execs.Rows[0].Form != "func" || execs.Rows[0].Worker != "w1" || !execs.Rows[0].There || !strings.Contains(string(execs.Rows[0].Guards), "max_errors") {
			t.Errorf("%+v", execs)
		}
		execs, err = ops.ListExecs.Do(t.Context(), o, by, ops.ExecsAsked{Paging: ops.Paging{Limit: 1, After: execs.Next}})
		r.Must(err)
		if len(execs.Rows) != 1 || execs.Rows[0].JobExec != "good" || execs.Next != "" {
			t.Errorf("%+v", execs)
		}
		for _, wrong := range []ops.ExecsAsked{{ExecAsked: ops.ExecAsked{JobExec: "a b"}, Paging: ops.Paging{Limit: 1}}, {Paging: ops.Paging{Limit: 1, After: "good/' OR 1"}}, {Paging: ops.Paging{Limit: 1, After: "x"}}} {
			_, err := ops.ListExecs.Do(t.Context(), o, by, wrong)
			rig.WantErr(t, fmt.Sprintf("%+v", wrong), err, prescient.ErrInvalid)
		}
	})
}

func TestTheForecastIsRead(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		o, by := served15(t, r), served.By(ops.Viewer)
		_, err := ops.GetForecast.Do(t.Context(), o, by, ops.ForecastAsked{})
		rig.WantErr(t, "none", err, forecast.ErrNone)
		m, err := forecast.New(t.Context(), r.As("worker", rig.At("13:31")), forecast.Options{Prefix: "p_", Dialect: r.Setting, Name: "w1"})
		r.Must(err)
		_, err = m.Make(t.Context())
		r.Must(err)
		whole, err := ops.GetForecast.Do(t.Context(), o, by, ops.ForecastAsked{})
		r.Must(err)
		brief, err := ops.GetForecast.Do(t.Context(), o, by, ops.ForecastAsked{Brief: true})
		r.Must(err)
		if len(whole.Days) == 0 || len(brief.Days) != 0 || len(whole.Slots) == 0 || len(whole.Slots) != len(brief.Slots) {
			t.Errorf("%+v\n%+v", whole, brief)
		}
	})
}

func TestSlotsAreAttested(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		o := served15(t, r)
		r.Exec("UPDATE p_audit_log SET at = '2026-11-01'")
		r.Exec("UPDATE p_slot_config SET changed_at = '2026-11-01'")
		asked := ops.AttestAsked{From: rig.At("13:00"), Before: rig.At("13:30"), LateMS: 60_000, Ends: 1000}
		report, err := ops.Attest.Do(t.Context(), o, served.By(ops.Operator), asked)
		r.Must(err)
		if report.Verdict != attest.Proven || report.Totals.Ended != 26 || !report.Ends.Compared {
			t.Errorf("%+v", report)
		}
		asked.Ends = 0
		report, err = ops.Attest.Do(t.Context(), o, served.By(ops.Operator), asked)
		r.Must(err)
		if report.Verdict != attest.Proven || report.Ends.Compared {
			t.Errorf("%+v", report)
		}
		_, err = ops.Attest.Do(t.Context(), o, served.By(ops.Viewer), asked)
		rig.WantErr(t, "a viewer", err, ops.ErrForbidden)
		for _, wrong := range []ops.AttestAsked{{From: rig.At("13:00").Add(-32 * 24 * time.Hour), Before: rig.At("13:00"), LateMS: 1}, {From: rig.At("14:00"), Before: rig.At("13:00"), LateMS: 1}} {
			_, err := ops.Attest.Do(t.Context(), o, served.By(ops.Operator), wrong)
			rig.WantErr(t, fmt.Sprintf("%+v", wrong), err, prescient.ErrInvalid)
		}
	})
}

func TestTheLifeOfAnEntityIsToldWhole(t *testing.T) {
	eachFlavour(t, func(t *testing.T, r *served.Rig) {
		o, by := r.OpsAt(rig.At("10:00")), served.By(ops.Operator)
		by.Reason = "the customer asked"
		_, err := ops.InsertChecks.Do(t.Context(), o, by, ops.Inserting{Checks: []ops.NewCheck{
			served.Check("42", "ship", rig.At("13:01")), served.Check("42", "pay", rig.At("15:01")), served.Check("42", "bill", rig.At("14:01")), served.Check("43", "ship", rig.At("14:01"))}})
		r.Must(err)
		_, err = ops.CancelChecks.Do(t.Context(), o, by, ops.Cancelling{Entity: "order/42", JobExecs: []string{"ship"}})
		r.Must(err)
		_, err = ops.RescheduleCheck.Do(t.Context(), o, by, ops.Rescheduling{Check: ops.Check{Entity: "order/42", JobExec: "bill"}, DueAt: rig.At("16:00")})
		r.Must(err)
		for _, role := range ops.Roles {
			life, err := ops.GetLife.Do(t.Context(), o, served.By(role), ops.LifeAsked{Entity: "order/42", Limit: 10})
			r.Must(err)
			sees := role.May(ops.Operator)
			if len(life.Pending) != 2 || life.Pending[1].JobExec != "bill" || (string(life.Pending[0].Payload) != "") != sees || life.PendingMore {
				t.Errorf("%s: %+v", role, life.Pending)
			}
			if len(life.Ended) != 1 || life.Ended[0].Outcome != prescient.Cancelled || (string(life.Ended[0].Payload) != "") != sees || life.EndedNext != "" {
				t.Errorf("%s: %+v", role, life.Ended)
			}
			if len(life.Audit) != 2 || life.Audit[0].Reason != "the customer asked" || (life.Audit[0].Before != nil) != sees || life.AuditMore {
				t.Errorf("%s: %+v", role, life.Audit)
			}
			if life.Runs == nil {
				t.Errorf("%+v", life)
			}
		}
		life, err := ops.GetLife.Do(t.Context(), o, served.By(ops.Viewer), ops.LifeAsked{Entity: "order/42", Limit: 1})
		r.Must(err)
		if len(life.Pending) != 1 || !life.PendingMore || len(life.Audit) != 1 || !life.AuditMore {
			t.Errorf("%+v", life)
		}
		life, err = ops.GetLife.Do(t.Context(), o, served.By(ops.Viewer), ops.LifeAsked{Entity: "order/none", Limit: 1})
		r.Must(err)
		if len(life.Pending)+len(life.Ended)+len(life.Audit) != 0 || life.Pending == nil || life.Ended == nil || life.Audit == nil {
			t.Errorf("%+v", life)
		}
		_, err = ops.GetLife.Do(t.Context(), o, served.By(ops.Viewer), ops.LifeAsked{Entity: "order", Limit: 1})
		rig.WantErr(t, "a kind", err, prescient.ErrInvalid)
	})
}
