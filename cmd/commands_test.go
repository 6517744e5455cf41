package cmd_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/jobs/orders"
	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/localserver/servertest"
)

func TestAnotherResolutionIsRefusedNamingBoth(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Migrate()
		for _, args := range [][]string{
			{"migrate"}, {"migrate", "status"}, {"run"}, {"work"}, {"sweep"}, {"roll-forward"}, {"pause", "x"},
			{"insert", "--entity", "order/42", "--exec", "x", "--in", "3h"},
		} {
			r.Execute(append(args, "--slots-resolution", "5m")...).Wants(r.T, cmd.ExitTables, "prescient: resolution differs: the tables have 15m, not 5m; set slots.resolution to 15m")
		}
		// What only reads takes that of the tables.
		for _, args := range [][]string{{"pending"}, {"history"}, {"slots"}, {"schedule", "list"}, {"job", "list"}, {"agents"}, {"audit"}, {"event", "status"}} {
			r.OK(append(args, "--slots-resolution", "5m")...)
		}
		r.OK("pending", "--slot", "2026-11-20 10:15", "--slots-resolution", "1h")
	})
}

func TestAccessDeniedShowsNoPassword(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		dsn := "nobody:topsecret" + r.DSN[strings.LastIndex(r.DSN, "@"):]
		got := rig.Execute(r.Context(), cmd.Options{}, map[string]string{"PRESCIENT_DSN": dsn}, "", "pending")
		got.Wants(r.T, cmd.ExitDatabase, "database nobody:***@tcp(", "Access denied")
		if strings.Contains(got.Err, "topsecret") {
			r.Errorf("%v", got)
		}
	})
}

func TestOrdersOfTheConfiguration(t *testing.T) {
	t.Run("on tables with the prefix of the others", func(t *testing.T) { testOrdersOfTheConfiguration(t, "", "shop_") })
	t.Run("on tables with one of their own", func(t *testing.T) { testOrdersOfTheConfiguration(t, "sales_", "sales_") })
}

func testOrdersOfTheConfiguration(t *testing.T, given, prefix string) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Variables["PRESCIENT_JOBS_ORDERS_TABLE_PREFIX"] = given
		r.Variables["PRESCIENT_JOBS_ORDERS_ENABLED"] = "true"
		r.Variables["PRESCIENT_JOBS_ORDERS_EXEC"] = orders.DefaultJobExec
		r.Variables["PRESCIENT_TABLE_PREFIX"] = "shop_"
		r.Begin()
		client, err := client.New(r.Context(), r.DB, client.Options{Prefix: "shop_"})
		r.Must(err)
		app, err := orders.New(orders.Options{Client: client, Prefix: prefix})
		r.Must(err)
		// The client sees the server's own clock, on which the horizon counts: the order is placed on that day.
		_, err = app.Place(r.Context(), servertest.Open(r.T, r.Variables["PRESCIENT_DSN"], "parseTime=true"), orders.NewOrder{ID: 7, PlacedAt: rig.At("10:05")})
		r.Must(err)
		r.At("13:15:01")
		r.OK("run")
		r.At("16:15:01")
		r.OK("run")
		if n := r.Count("SELECT COUNT(*) FROM " + prefix + "order_alerts WHERE order_id = 7"); n != 2 {
			r.Errorf("%d alerts; want 2", n)
		}
		if ends := r.History(); len(ends) != 1 || ends[0].Outcome != prescient.Done || ends[0].CheckCount != 1 {
			r.Errorf("%+v", ends)
		}
	})
}

func TestProgramsRegisterTheirOwn(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		r.Begin()
		var called []string
		r.Options.Register = func(_ context.Context, registry *prescient.Registry, deps cmd.Deps) error {
			return registry.Register("long", func(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
				called = append(called, job.Entity().String())
				_, err := deps.Client.Insert(ctx, deps.DB, prescient.NewJob{Entity: prescient.Entity{Name: "order", Key: "next"}, JobExec: "long", DueAt: rig.At("15:00")})
				return nil, err
			}, prescient.Guards{Horizon: 100 * 24 * time.Hour})
		}
		// Its horizon is known at the insert.
		r.OK("insert", "--entity", "order/far", "--exec", "long", "--in", "90d")
		r.OK("insert", "--entity", "order/1", "--exec", "long", "--in", "10m")
		r.At("10:15")
		got := r.Execute("run", "--json")
		if strings.Contains(got.Err, "no job_exec is registered") || !strings.Contains(got.Out, `"assigned":true`) || !strings.Contains(got.Out, `"done":1`) {
			r.Errorf("%v", got)
		}
		if fmt.Sprint(called) != "[order/1]" || len(r.Jobs("--entity", "order/next")) != 1 {
			r.Errorf("called %q", called)
		}

		r.Options.Register = func(_ context.Context, registry *prescient.Registry, _ cmd.Deps) error {
			return registry.Register("not a name", nil, prescient.Guards{})
		}
		r.Execute("run").Wants(r.T, cmd.ExitUsage, `registering job_execs: invalid: job_exec "not a name"`)
	})
}
