package checks_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient"
)

func TestInsertGetRescheduleCancel(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		insert := []string{"insert", "--entity", "order/42", "--exec", "unshipped"}
		if out := r.OK(append(insert, "--in", "3h", "--payload", `{"lines": 3}`)...); out !=
			"inserted: unshipped of order/42 is due at 2026-11-20 13:05:00, in the slot 2026-11-20 13:15:00 (UTC)\n" {
			r.Error(out)
		}
		for _, test := range []struct {
			args []string
			did  string
			due  string
			slot string
		}{
			{[]string{"--in", "1h"}, "kept", "13:05", "13:15"},
			{[]string{"--in", "1d", "--on-pending", "earlier"}, "kept", "13:05", "13:15"},
			{[]string{"--at", "2026-11-20T15:00:00.000001+01:00", "--on-pending", "later"}, "replaced", "14:00:00.000001", "14:15"},
			{[]string{"--at", "2026-11-20 15:30", "--on-pending", "replace"}, "replaced", "15:30", "15:30"},
			{[]string{"--at", "now-2h", "--tag", "late"}, "inserted", "08:05", "10:15"},
		} {
			type placed struct {
				Did                                      string
				EntityName, EntityKey, JobExec, Tag, Due string
				DueAt                                    time.Time `json:"due_at"`
				Slot                                     time.Time
			}
			out := r.OK(append(append(insert, "--json"), test.args...)...)
			if p := rig.Lines[placed](r.T, out); len(p) != 1 || p[0].Did != test.did || !p[0].DueAt.Equal(rig.At(test.due)) || !p[0].Slot.Equal(rig.At(test.slot)) {
				r.Errorf("%q: %s; want %+v", test.args, out, test)
			}
		}
		r.Execute(append(insert, "--in", "1h", "--on-pending", "error")...).Wants(r.T, cmd.ExitPending, "already pending")
		r.Execute(append(insert, "--in", "31d")...).Wants(r.T, cmd.ExitUsage, "beyond the horizon", "2026-12-21", "with a horizon of 30d (guards.horizon, or that of the job_exec)")

		r.Execute("reschedule", "--entity", "order/42", "--exec", "other", "--in", "1h").Wants(r.T, cmd.ExitNotFound, "not pending", "order/42")
		r.OK("reschedule", "--entity", "order/42", "--exec", "unshipped", "--at", "2026-11-20 17:01")
		out := r.OK("get", "--entity", "order/42", "--exec", "unshipped")
		if !strings.Contains(out, "due_at          2026-11-20 17:01:00\n") || !strings.Contains(out, "next_check_at   2026-11-20 17:15:00\n") {
			r.Error(out)
		}
		if job := rig.Lines[prescient.FutureJob](r.T, r.OK("get", "--entity", "order/42", "--exec", "unshipped", "--tag", "late", "--json")); !job[0].NextCheckAt.Equal(rig.At("10:15")) {
			r.Errorf("%+v", job)
		}
		r.Execute("get", "--entity", "order/42", "--exec", "other").Wants(r.T, cmd.ExitNotFound, "other of order/42")

		if out := r.OK("cancel", "--entity", "order/42", "--exec", "other", "--json"); out != `{"cancelled":0}`+"\n" {
			r.Error(out)
		}
		if out := r.OK("cancel", "--entity", "order/42", "--exec", "other", "--exec", "unshipped"); out != "cancelled 2 of order/42\n" {
			r.Error(out)
		}
		if ends := r.History(); len(ends) != 2 || ends[0].Outcome != prescient.Cancelled || ends[0].LatenessMS != nil {
			r.Errorf("%+v", ends)
		}
	})
}

func TestPayloadFromStdin(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		got := r.With(`{"from": "stdin"}`, "insert", "--entity", "a/1", "--exec", "x", "--in", "1h", "--payload", "-")
		got.Wants(r.T, cmd.ExitOK)
		if jobs := r.Jobs(); len(jobs) != 1 || !strings.Contains(string(jobs[0].Payload), "stdin") {
			r.Errorf("%+v", jobs)
		}
	})
}

func TestListingsAreFilteredAndPaged(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		for i := range 7 {
			r.OK("insert", "--entity", fmt.Sprintf("order/%d", i), "--exec", "a", "--at", fmt.Sprintf("2026-11-20 %d:00", 11+i))
		}
		r.OK("insert", "--entity", "invoice/1", "--exec", "b", "--at", "2026-11-20 12:00")

		for _, test := range []struct {
			args []string
			want int
		}{
			{nil, 8},
			{[]string{"--entity", "order"}, 7},
			{[]string{"--entity", "order/3"}, 1},
			{[]string{"--exec", "b"}, 1},
			{[]string{"--slot", "2026-11-20 12:00"}, 2},
			{[]string{"--from", "now+2h", "--before", "2026-11-20T15:00:00Z"}, 2},
			{[]string{"--exec", "c"}, 0},
		} {
			if jobs := r.Jobs(test.args...); len(jobs) != test.want {
				r.Errorf("pending %q: %d; want %d: %+v", test.args, len(jobs), test.want, jobs)
			}
		}
		r.Execute("pending", "--slot", "2026-11-20 12:01").Wants(r.T, cmd.ExitUsage, "is no slot", "12:00:00 and 2026-11-20 12:15:00")
		r.Execute("pending", "--exec", "c", "--search", "3").Wants(r.T, cmd.ExitOK, "3 rows were looked at, as far as 2026-11-20", "--after '2026-11-20 1")
		r.Execute("pending", "--search", "-1").Wants(r.T, cmd.ExitUsage, "--search -1")
		r.Execute("pending", "--after", "nonsense").Wants(r.T, cmd.ExitUsage, `cursor "nonsense"`)
		pages(r, "pending", 8)

		first := r.Execute("pending", "--limit", "1")
		first.Wants(r.T, cmd.ExitOK, "there are more: --after '2026-11-20 11:00:00/")
		if want := "slot (UTC)           entity   job_exec  due at               checks\n" +
			"2026-11-20 11:00:00  order/0  a         2026-11-20 11:00:00       0\n"; first.Out != want {
			r.Errorf("got\n%s\nwant\n%s", first.Out, want)
		}

		for i := range 7 {
			r.OK("cancel", "--entity", fmt.Sprintf("order/%d", i))
		}
		pages(r, "history", 7)
		if ends := r.History("--outcome", "done"); len(ends) != 0 {
			r.Errorf("%+v", ends)
		}
		if ends := r.History("--outcome", "cancelled", "--entity", "order/3"); len(ends) != 1 {
			r.Errorf("%+v", ends)
		}
		const slot = `"slot":"2026-11-20T12:00:00Z"`
		want := strings.Count(r.OK("history", "--json"), slot)
		if got := r.OK("history", "--json", "--slot", "2026-11-20 12:00", "--from", "2026-01-01 00:00"); want == 0 || strings.Count(got, "\n") != want || strings.Count(got, slot) != want {
			r.Errorf("%d ends of the slot; got %s", want, got)
		}
		if got := r.OK("history", "--json", "--slot", "2026-11-20 12:00"); got != "" { // all were cancelled before it
			r.Error(got)
		}
		if out := r.OK("history", "--limit", "1"); !strings.Contains(out, "cancelled") || strings.Count(out, "\n") != 2 {
			r.Error(out)
		}
	})
}

// pages reads a listing page by page, and wants each row once.
func pages(r *rig.Rig, list string, want int) {
	r.Helper()
	type row struct {
		EntityName string `json:"entity_name"`
		EntityKey  string `json:"entity_key"`
		Cursor     string
	}
	seen := make(map[string]bool)
	after := ""
	for range want {
		page := rig.Lines[row](r.T, r.OK(list, "--json", "--limit", "3", "--after", after))
		for _, row := range page {
			seen[row.EntityName+"/"+row.EntityKey] = true
			after = row.Cursor
		}
		if len(page) < 3 {
			break
		}
	}
	if len(seen) != want {
		r.Errorf("%s: %d rows on all pages; want %d", list, len(seen), want)
	}
}

func TestWhatTheDatabaseHoldsDrivesNoTerminal(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		const nasty = "\x1b]0;title\a\u202e\u009b31m"
		_, err := r.DB.Exec("ALTER TABLE future_job DROP CONSTRAINT future_job_seen") // such rows are of before that
		r.Must(err)
		_, err = r.DB.Exec("INSERT INTO future_job (entity_name, entity_key, job_exec, tag, due_at, payload) VALUES ('order', ?, 'x', ?, UTC_TIMESTAMP(6) + INTERVAL 1 HOUR, ?)",
			nasty, nasty, `{"a": "`+"\u009b"+`31m"}`) // the command refuses what cannot be seen
		r.Must(err)
		job := []string{"--entity", "order/" + nasty, "--exec", "x", "--tag", nasty}
		for _, args := range [][]string{
			{"pending"}, {"pending", "--json"}, append([]string{"get"}, job...), append([]string{"get", "--json"}, job...), {"slots"},
			append([]string{"reschedule", "--in", "2h"}, job...), append([]string{"insert", "--in", "2h", "--on-pending", "error"}, job...),
			{"cancel", "--entity", "order/" + nasty}, {"history"}, {"history", "--json"},
		} {
			got := r.Execute(args...)
			if strings.ContainsAny(got.Out+got.Err, "\x1b\a\u202e\u009b") {
				r.Errorf("%q: control characters in %q %q", args, got.Out, got.Err)
			}
		}
		if ends := r.History(); len(ends) != 1 || ends[0].Tag != nasty {
			r.Errorf("JSON does not say what it was: %+v", ends)
		}
	})
}

func TestSlotsShowTheLoad(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		for i := range 9 {
			r.OK("insert", "--entity", fmt.Sprintf("order/%d", i), "--exec", "a", "--at", fmt.Sprintf("2026-11-20 1%d:00", min(i/2, 3)+1))
		}
		r.At("12:05")
		type load struct {
			Slot   time.Time
			Jobs   int
			State  string
			Served bool
		}
		out := r.OK("slots", "--json", "--worker-share", "1/8")
		if l := rig.Lines[load](r.T, out); len(l) != 4 || l[0].State != "overdue" || l[1].State != "now" || l[2].State != "coming" || l[3].Jobs != 3 ||
			!l[0].Slot.Equal(rig.At("11:00")) || l[0].Served == l[1].Served {
			r.Error(out)
		}
		got := r.Execute("slots", "--limit", "3")
		got.Wants(r.T, cmd.ExitOK, "there are more: --from 2026-11-20T14:00:00Z")
		want := `slot (UTC)                in  checks                                            this worker
2026-11-20 11:00:00  overdue       2  ########################################  serves it
2026-11-20 12:00:00      now       2  ########################################  serves it
2026-11-20 13:00:00    55m0s       2  ########################################  serves it
`
		if got.Out != want {
			r.Errorf("got\n%s\nwant\n%s", got.Out, want)
		}
	})
}

func TestGetSaysWhatBecameOfACheckThatHasEnded(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		r.OK("insert", "--entity", "order/43", "--exec", "unshipped", "--in", "3h")
		r.OK("cancel", "--entity", "order/43")
		get := []string{"get", "--entity", "order/43", "--exec", "unshipped"}
		// The role app may not read history.
		r.Execute(get...).Wants(r.T, cmd.ExitNotFound, "not pending", "history --entity order/43 says whether it has ended, by an account that may read it")
		r.Variables["PRESCIENT_DSN"] = r.Account("operator")
		rig.Execute(r.Context(), r.Options, r.Variables, "", get...).Wants(r.T, cmd.ExitNotFound, "it ended as cancelled at ", "history --entity order/43 has the rest")
	})
}
