package demo_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"prescient/cmd"
	"prescient/cmd/internal/rig"
	"prescient/prescient/ops/door"
	"prescient/prescient/page/login"
	"prescient/sql/migrate"
)

func TestDemoOnAGivenServer(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		tables := "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()"
		demo := []string{"demo", "--alert-after", "1s", "--escalate-after", "2s", "--seed", "7", "--dsn", r.DSN}
		r.Variables["PRESCIENT_TABLE_PREFIX"] = "Not allowed: a demo does not read it"
		out := r.OK(append(slices.Clip(demo), "--for", "6s", "--orders", "30")...)
		for _, text := range []string{"placed", "shipped", "ALERT", "ESCALATED", "the books balance", "inserted      30", "orders are open (schedule shop-report", "reports        1", "consumer   topic orders.shipped, id order-", `{"order":`, "shipments that the consumer was told of", "lateness  p50", "forecast  of the slot "} {
			if !strings.Contains(out, text) {
				r.Errorf("no %q in %s", text, out)
			}
		}
		if strings.Contains(out, "\x1b") {
			r.Error("colours, and no terminal")
		}
		if n := r.Count(tables); n != 0 {
			r.Errorf("%d tables are left", n)
		}
		type books struct {
			Inserted, Ended, Pending int
			Reports                  int
			Balanced                 bool
			TablePrefix              string `json:"table_prefix"`
			Lateness                 struct{ P50, P99, Max int64 }
			Forecast                 *struct {
				How                 string
				Due, Had, Cancelled int64
				EndedAt             *time.Time `json:"ended_at"`
			}
		}
		got := r.Execute(append(slices.Clip(demo), "--json", "--keep", "--orders", "300", "--for", "6s")...)
		got.Wants(r.T, cmd.ExitOK)
		b := rig.Lines[books](r.T, got.Out)
		if len(b) != 1 || !b[0].Balanced || b[0].Inserted == 0 || b[0].Inserted != b[0].Ended+b[0].Pending {
			r.Fatalf("%v", got)
		}
		// What was pending for the slot then was run in it, or cancelled.
		if f := b[0].Forecast; f == nil || f.How != "exact" || f.Due == 0 || f.Due > f.Had+f.Cancelled || f.EndedAt == nil {
			r.Errorf("the forecast and the ledger: %s", got.Out)
		}
		made, err := migrate.Schema{Prefix: b[0].TablePrefix}.Expected()
		r.Must(err)
		// Those of the migrations, their versions, and two of the orders.
		if n, want := r.Count(tables+" AND table_type = 'BASE TABLE'"), len(made)+3; n != want {
			r.Errorf("--keep left %d tables; want %d", n, want)
		}
		if n := r.Count("SELECT COUNT(*) FROM " + b[0].TablePrefix + "job_history"); n != b[0].Ended+b[0].Reports {
			r.Errorf("%d ends in the table, %d in the books", n, b[0].Ended+b[0].Reports)
		}
	})
}

// Its page is there for whoever is at this machine, under a name of it, while orders come and go.
func TestDemoWithAPage(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		address := make(chan string, 1)
		r.Page = func(ctx context.Context, s door.Serving) (http.Handler, error) {
			address <- s.Page.BaseURL
			return login.Serve(ctx, s)
		}
		ctx, stop := context.WithCancel(r.Context())
		defer stop()
		over := make(chan rig.Result, 1)
		go func() {
			over <- rig.Execute(ctx, r.Options, nil, "", "demo", "--page", "--alert-after", "1s", "--escalate-after", "2s", "--dsn", r.DSN)
		}()
		ask := func(path, host string) (int, string) {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, path, nil)
			r.Must(err)
			if host != "" {
				req.Host = host
			}
			got, err := http.DefaultClient.Do(req)
			r.Must(err)
			defer got.Body.Close()
			text, err := io.ReadAll(got.Body)
			r.Must(err)
			return got.StatusCode, string(text)
		}
		var base string
		select {
		case base = <-address:
		case got := <-over:
			r.Fatalf("%v", got)
		}
		rig.Eventually(r.T, "an alert is on the page", func() bool {
			status, text := ask(base+"/ends", "")
			return status == http.StatusOK && strings.Contains(text, "demonstration") && strings.Contains(text, "order/1")
		})
		if status, _ := ask(base+"/", "evil.example"); status != http.StatusMisdirectedRequest {
			r.Errorf("by another name: %d", status)
		}
		stop()
		got := <-over
		if !strings.Contains(got.Out, base) || !strings.Contains(got.Out, "the books balance") {
			r.Errorf("%v", got)
		}
		r.Page = login.Serve
		r.Says(r.OK("demo", "--page", "--for", "4s", "--orders", "20", "--alert-after", "1s", "--escalate-after", "2s", "--dsn", r.DSN), "is its page", "time is up", "the books balance")
		if n := r.Count("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()"); n != 0 {
			r.Errorf("%d tables are left", n)
		}
	})
}

func TestDemoWithNothingSetUp(t *testing.T) {
	t.Parallel()
	env := map[string]string{"PRESCIENT_WORKER_LEASE": "nonsense", "PRESCIENT_DSN": rig.NoServer}
	got := rig.Execute(t.Context(), cmd.Options{}, env, "", "demo", "--for", "2s")
	got.Wants(t, cmd.ExitOK)
	if !strings.Contains(got.Out, "the books balance") {
		t.Errorf("%v", got)
	}
}

func TestDemoOfAJobOfSteps(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		out := r.OK("demo", "--steps", "--dsn", r.DSN)
		for _, text := range []string{"it is tried again two seconds later", "meanwhile the job is edited", "version 1: ended done", "version 2: ended done",
			"attempt 1: failed  the warehouse does not answer  | asking the warehouse", "attempt 2: done", `reported to "the boss"`, `reported to "everybody"`} {
			if !strings.Contains(out, text) {
				r.Errorf("no %q in %s", text, out)
			}
		}
		if n := r.Count("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()"); n != 0 {
			r.Errorf("%d tables are left", n)
		}
	})
}

func TestDemoOfConditionsInTheConfiguration(t *testing.T) {
	rig.EachFlavour(t, func(r *rig.Rig) {
		out := r.OK("demo", "--rules", "--dsn", r.DSN)
		for _, text := range []string{"while: shipped_at IS NULL", "event orders.late       order/2", "event orders.very-late  order/3", "3 checks are done, 2 orders were late, 1 very late; alerts that their rows count: 0,1,2"} {
			if !strings.Contains(out, text) {
				r.Errorf("no %q in %s", text, out)
			}
		}
		if n := r.Count("SELECT COUNT(*) FROM information_schema.tables WHERE table_schema = DATABASE()"); n != 0 {
			r.Errorf("%d tables are left", n)
		}
	})
}

func TestDemoOfAdvisedTimes(t *testing.T) {
	t.Parallel()
	env := map[string]string{"PRESCIENT_DSN": rig.NoServer}
	got := rig.Execute(t.Context(), cmd.Options{}, env, "", "demo", "--advised", "--seed", "1")
	got.Wants(t, cmd.ExitOK)
	for _, text := range []string{"by --seed 1;", "three of four after about four hours", "order/2001, placed ", "hourly ", "advised ", "LATE, 99 %"} {
		if !strings.Contains(got.Out, text) {
			t.Errorf("no %q in %s", text, got.Out)
		}
	}
	for args, want := range map[string]string{
		"--advised --rules":                    "--steps, --rules, --advised, --page, --vitess: one of them is allowed",
		"--steps --page":                       "one of them is allowed",
		"--advised --dsn u:p@tcp(127.0.0.1)/d": "--advised asks no database",
	} {
		refused := rig.Execute(t.Context(), cmd.Options{}, env, "", append([]string{"demo"}, strings.Fields(args)...)...)
		refused.Wants(t, cmd.ExitUsage, want)
	}
}
