package cmd_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/jobs/orders"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/localserver/servertest"
)

func TestMigrate(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.execute("jobs").wants(r.T, cmd.ExitTables, "prescient migrate applies them")
		r.execute("run").wants(r.T, cmd.ExitTables, "prescient migrate applies them")
		if got := r.execute("migrate", "status"); got.code != cmd.ExitTables || !strings.Contains(got.out, "migrations are missing") || got.err != "" {
			r.Errorf("%v", got)
		}
		if out := r.ok("migrate"); !strings.Contains(out, "applied 00001_slot_config.sql") {
			r.Error(out)
		}
		if out := r.ok("migrate", "up"); out != "the tables are up to date\n" {
			r.Error(out)
		}
		if out := r.ok("migrate", "status", "--json"); out != `{"prefix":"","resolution":"15m0s","missing":0}`+"\n" {
			r.Error(out)
		}
		// Two installations, one database.
		r.ok("migrate", "--table-prefix", "other_", "--slots-resolution", "1h")
		r.ok("insert", "--entity", "order/42", "--exec", "x", "--in", "3h")
		if out := r.ok("jobs", "--table-prefix", "other_", "--slots-resolution", "1h"); out != "nothing is pending\n" {
			r.Error(out)
		}
		r.ok("migrate", "down", "--yes")
		r.execute("jobs").wants(r.T, cmd.ExitTables)
		r.ok("jobs", "--table-prefix", "other_", "--slots-resolution", "1h")
		if out := r.ok("migrate", "down", "--yes"); out != "there were no tables\n" {
			r.Error(out)
		}
	})
}

func TestAnotherResolutionIsRefusedNamingBoth(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.ok("migrate")
		for _, args := range [][]string{
			{"migrate"}, {"migrate", "status"}, {"run"}, {"work"}, {"sweep"}, {"roll-forward"}, {"jobs"}, {"slots"},
			{"insert", "--entity", "order/42", "--exec", "x", "--in", "3h"},
		} {
			r.execute(append(args, "--slots-resolution", "5m")...).wants(r.T, cmd.ExitTables, "prescient: resolution differs: ", "5m0s", "15m0s")
		}
	})
}

func TestAccessDeniedShowsNoPassword(t *testing.T) {
	eachServer(t, func(r *rig) {
		dsn := "nobody:topsecret" + r.dsn[strings.LastIndex(r.dsn, "@"):]
		got := execute(r.Context(), cmd.Options{}, map[string]string{"PRESCIENT_DSN": dsn}, "", "jobs")
		got.wants(r.T, cmd.ExitDatabase, "database nobody:***@tcp(", "Access denied")
		if strings.Contains(got.err, "topsecret") {
			r.Errorf("%v", got)
		}
	})
}

func TestInsertGetRescheduleCancel(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.at("10:05")
		r.ok("migrate")
		insert := []string{"insert", "--entity", "order/42", "--exec", "unshipped"}
		if out := r.ok(append(insert, "--in", "3h", "--payload", `{"lines": 3}`)...); out !=
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
			out := r.ok(append(append(insert, "--json"), test.args...)...)
			if p := lines[placed](r.T, out); len(p) != 1 || p[0].Did != test.did || !p[0].DueAt.Equal(at(test.due)) || !p[0].Slot.Equal(at(test.slot)) {
				r.Errorf("%q: %s; want %+v", test.args, out, test)
			}
		}
		r.execute(append(insert, "--in", "1h", "--on-pending", "error")...).wants(r.T, cmd.ExitPending, "already pending")
		r.execute(append(insert, "--in", "31d")...).wants(r.T, cmd.ExitUsage, "beyond the horizon", "2026-12-21", "720h")

		r.execute("reschedule", "--entity", "order/42", "--exec", "other", "--in", "1h").wants(r.T, cmd.ExitNotFound, "not pending", "order/42")
		r.ok("reschedule", "--entity", "order/42", "--exec", "unshipped", "--at", "2026-11-20 17:01")
		out := r.ok("get", "--entity", "order/42", "--exec", "unshipped")
		if !strings.Contains(out, "due_at          2026-11-20 17:01:00\n") || !strings.Contains(out, "next_check_at   2026-11-20 17:15:00\n") {
			r.Error(out)
		}
		if job := lines[prescient.FutureJob](r.T, r.ok("get", "--entity", "order/42", "--exec", "unshipped", "--tag", "late", "--json")); !job[0].NextCheckAt.Equal(at("10:15")) {
			r.Errorf("%+v", job)
		}
		r.execute("get", "--entity", "order/42", "--exec", "other").wants(r.T, cmd.ExitNotFound, "other of order/42")

		if out := r.ok("cancel", "--entity", "order/42", "--exec", "other", "--json"); out != `{"cancelled":0}`+"\n" {
			r.Error(out)
		}
		if out := r.ok("cancel", "--entity", "order/42", "--exec", "other", "--exec", "unshipped"); out != "cancelled 2 of order/42\n" {
			r.Error(out)
		}
		if ends := r.history(); len(ends) != 2 || ends[0].Outcome != prescient.Cancelled || ends[0].LatenessMS != nil {
			r.Errorf("%+v", ends)
		}
	})
}

func TestPayloadFromStdin(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.ok("migrate")
		got := execute(r.Context(), r.Options, r.environment([]string{"insert"}), `{"from": "stdin"}`, "insert", "--entity", "a/1", "--exec", "x", "--in", "1h", "--payload", "-")
		got.wants(r.T, cmd.ExitOK)
		if jobs := r.jobs(); len(jobs) != 1 || !strings.Contains(string(jobs[0].Payload), "stdin") {
			r.Errorf("%+v", jobs)
		}
	})
}

func TestListingsAreFilteredAndPaged(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.at("10:05")
		r.ok("migrate")
		for i := range 7 {
			r.ok("insert", "--entity", fmt.Sprintf("order/%d", i), "--exec", "a", "--at", fmt.Sprintf("2026-11-20 %d:00", 11+i))
		}
		r.ok("insert", "--entity", "invoice/1", "--exec", "b", "--at", "2026-11-20 12:00")

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
			if jobs := r.jobs(test.args...); len(jobs) != test.want {
				r.Errorf("jobs %q: %d; want %d: %+v", test.args, len(jobs), test.want, jobs)
			}
		}
		r.execute("jobs", "--slot", "2026-11-20 12:01").wants(r.T, cmd.ExitUsage, "is no slot", "12:00:00 and 2026-11-20 12:15:00")
		r.execute("jobs", "--exec", "c", "--search", "3").wants(r.T, cmd.ExitOK, "3 rows were looked at, as far as 2026-11-20", "--after '2026-11-20 1")
		r.execute("jobs", "--search", "-1").wants(r.T, cmd.ExitUsage, "--search -1")
		r.execute("jobs", "--after", "nonsense").wants(r.T, cmd.ExitUsage, `cursor "nonsense"`)
		r.pages("jobs", 8)

		first := r.execute("jobs", "--limit", "1")
		first.wants(r.T, cmd.ExitOK, "there are more: --after '2026-11-20 11:00:00/")
		if want := "slot (UTC)           entity   job_exec  due at               checks\n" +
			"2026-11-20 11:00:00  order/0  a         2026-11-20 11:00:00       0\n"; first.out != want {
			r.Errorf("got\n%s\nwant\n%s", first.out, want)
		}

		for i := range 7 {
			r.ok("cancel", "--entity", fmt.Sprintf("order/%d", i))
		}
		r.pages("history", 7)
		if ends := r.history("--outcome", "done"); len(ends) != 0 {
			r.Errorf("%+v", ends)
		}
		if ends := r.history("--outcome", "cancelled", "--entity", "order/3"); len(ends) != 1 {
			r.Errorf("%+v", ends)
		}
		const slot = `"slot":"2026-11-20T12:00:00Z"`
		want := strings.Count(r.ok("history", "--json"), slot)
		if got := r.ok("history", "--json", "--slot", "2026-11-20 12:00", "--from", "2026-01-01 00:00"); want == 0 || strings.Count(got, "\n") != want || strings.Count(got, slot) != want {
			r.Errorf("%d ends of the slot; got %s", want, got)
		}
		if got := r.ok("history", "--json", "--slot", "2026-11-20 12:00"); got != "" { // all were cancelled before it
			r.Error(got)
		}
		if out := r.ok("history", "--limit", "1"); !strings.Contains(out, "cancelled") || strings.Count(out, "\n") != 2 {
			r.Error(out)
		}
	})
}

// pages reads a listing page by page, and wants each row once.
func (r *rig) pages(list string, want int) {
	r.Helper()
	type row struct {
		EntityName string `json:"entity_name"`
		EntityKey  string `json:"entity_key"`
		Cursor     string
	}
	seen := make(map[string]bool)
	after := ""
	for range want {
		page := lines[row](r.T, r.ok(list, "--json", "--limit", "3", "--after", after))
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
	eachServer(t, func(r *rig) {
		r.ok("migrate")
		const nasty = "\x1b]0;title\a\u202e\u009b31m"
		r.ok("insert", "--entity", "order/"+nasty, "--exec", "x", "--tag", nasty, "--in", "1h", "--payload", `{"a": "`+"\u009b"+`31m"}`)
		job := []string{"--entity", "order/" + nasty, "--exec", "x", "--tag", nasty}
		for _, args := range [][]string{
			{"jobs"}, {"jobs", "--json"}, append([]string{"get"}, job...), append([]string{"get", "--json"}, job...), {"slots"},
			append([]string{"reschedule", "--in", "2h"}, job...), append([]string{"insert", "--in", "2h", "--on-pending", "error"}, job...),
			{"cancel", "--entity", "order/" + nasty}, {"history"}, {"history", "--json"},
		} {
			got := r.execute(args...)
			if strings.ContainsAny(got.out+got.err, "\x1b\a\u202e\u009b") {
				r.Errorf("%q: control characters in %q %q", args, got.out, got.err)
			}
		}
		if ends := r.history(); len(ends) != 1 || ends[0].Tag != nasty {
			r.Errorf("JSON does not say what it was: %+v", ends)
		}
	})
}

func TestSlotsShowTheLoad(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.at("10:05")
		r.ok("migrate")
		for i := range 9 {
			r.ok("insert", "--entity", fmt.Sprintf("order/%d", i), "--exec", "a", "--at", fmt.Sprintf("2026-11-20 1%d:00", min(i/2, 3)+1))
		}
		r.at("12:05")
		type load struct {
			Slot   time.Time
			Jobs   int
			State  string
			Served bool
		}
		out := r.ok("slots", "--json", "--worker-share", "1/8")
		if l := lines[load](r.T, out); len(l) != 4 || l[0].State != "overdue" || l[1].State != "now" || l[2].State != "coming" || l[3].Jobs != 3 ||
			!l[0].Slot.Equal(at("11:00")) || l[0].Served == l[1].Served {
			r.Error(out)
		}
		got := r.execute("slots", "--limit", "3")
		got.wants(r.T, cmd.ExitOK, "there are more: --from 2026-11-20T14:00:00Z")
		want := `slot (UTC)                in  checks                                            this worker
2026-11-20 11:00:00  overdue       2  ########################################  serves it
2026-11-20 12:00:00      now       2  ########################################  serves it
2026-11-20 13:00:00    55m0s       2  ########################################  serves it
`
		if got.out != want {
			r.Errorf("got\n%s\nwant\n%s", got.out, want)
		}
	})
}

func TestOrdersOfTheConfiguration(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.env["PRESCIENT_JOBS_ORDERS_ENABLED"] = "true"
		r.env["PRESCIENT_JOBS_ORDERS_EXEC"] = orders.DefaultJobExec
		r.env["PRESCIENT_TABLE_PREFIX"] = "shop_"
		r.at("10:05")
		r.ok("migrate")
		client, err := client.New(r.Context(), r.db, client.Options{Prefix: "shop_"})
		r.must(err)
		app, err := orders.New(orders.Options{Client: client, Prefix: "shop_"})
		r.must(err)
		// The client sees the server's own clock, on which the horizon counts: the order is placed on that day.
		_, err = app.Place(r.Context(), servertest.Open(r.T, r.env["PRESCIENT_DSN"], "parseTime=true"), orders.NewOrder{ID: 7, PlacedAt: at("10:05")})
		r.must(err)
		r.at("13:15:01")
		r.ok("run")
		r.at("16:15:01")
		r.ok("run")
		if n := r.count("SELECT COUNT(*) FROM shop_order_alerts WHERE order_id = 7"); n != 2 {
			r.Errorf("%d alerts; want 2", n)
		}
		if ends := r.history(); len(ends) != 1 || ends[0].Outcome != prescient.Done || ends[0].CheckCount != 1 {
			r.Errorf("%+v", ends)
		}
	})
}

func TestProgramsRegisterTheirOwn(t *testing.T) {
	eachServer(t, func(r *rig) {
		r.at("10:05")
		r.ok("migrate")
		var called []string
		r.Options.Register = func(_ context.Context, registry *prescient.Registry, deps cmd.Deps) error {
			return registry.Register("long", func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
				called = append(called, job.Entity().String())
				_, err := deps.Client.Insert(ctx, deps.DB, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "next"}, JobExec: "long", DueAt: at("15:00")})
				return nil, err
			}, prescient.Guards{Horizon: 100 * 24 * time.Hour})
		}
		// Its horizon is known at the insert.
		r.ok("insert", "--entity", "order/far", "--exec", "long", "--in", "90d")
		r.ok("insert", "--entity", "order/1", "--exec", "long", "--in", "10m")
		r.at("10:15")
		got := r.execute("run", "--json")
		if strings.Contains(got.err, "no job_exec is registered") || !strings.Contains(got.out, `"assigned":true`) || !strings.Contains(got.out, `"done":1`) {
			r.Errorf("%v", got)
		}
		if fmt.Sprint(called) != "[order/1]" || len(r.jobs("--entity", "order/next")) != 1 {
			r.Errorf("called %q", called)
		}

		r.Options.Register = func(_ context.Context, registry *prescient.Registry, _ cmd.Deps) error {
			return registry.Register("not a name", nil, prescient.Guards{})
		}
		r.execute("run").wants(r.T, cmd.ExitUsage, `registering job_execs: invalid: job_exec "not a name"`)
	})
}
