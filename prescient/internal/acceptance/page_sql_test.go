package acceptance

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/client"
	"prescient/prescient/event"
	"prescient/prescient/event/forward"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/pages"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/schedule"
	"prescient/prescient/worker"
	text "prescient/sql"
)

const sqlPage = "sql/README.md"

// runs sends the statements of a block of SQL, one after the other, in a transaction, as an app does.
func runs(t *testing.T, db *sqlx.DB, block string) {
	t.Helper()
	tx, err := db.BeginTxx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer tx.Rollback()
	for statement := range strings.SplitSeq(block, ";\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if _, err := tx.ExecContext(t.Context(), statement); err != nil {
			t.Fatalf("%v:\n%s", err, statement)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
}

// An analyst writes a query with the page alone.
func TestThePageNamesTheColumnsOfHistory(t *testing.T) {
	page, err := os.ReadFile(filepath.Join("../../..", sqlPage))
	rig.Fatal(t, err)
	table, err := os.ReadFile("../../../sql/migrate/tables/job_history.sql")
	rig.Fatal(t, err)
	_, analysts, _ := strings.Cut(string(page), "\n## For analysts")
	analysts, _, _ = strings.Cut(analysts, "\n## ")
	columns := regexp.MustCompile(`(?m)^  ([a-z_]+) +[A-Z]+`).FindAllStringSubmatch(string(table), -1)
	if len(columns) < 20 {
		t.Fatalf("%d columns", len(columns))
	}
	for _, column := range columns {
		if !strings.Contains(analysts, "`"+column[1]+"`") {
			t.Errorf("no %s for analysts", column[1])
		}
	}
}

// Every block of SQL is run by the account that it is for, and what it inserted is what the library knows.
func TestTheSQLOnThePagesRuns(t *testing.T) {
	t.Parallel()
	servertest.EachOfAFlavour(t, func(t *testing.T, d servertest.Database) {
		ctx := t.Context()
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		const full = text.Dialect("")
		owner := pages.Tables(t, d, full)
		app := sqlx.NewDb(servertest.Open(t, pages.Account(t, d, owner, "app-sql", full), ""), "mysql")
		checks, err := client.New(ctx, owner, client.Options{})
		must(err)
		pending := func(name, key, exec string) prescient.FutureJob {
			t.Helper()
			job, err := checks.Get(ctx, owner, prescient.Entity{Name: name, Key: key}, exec, "")
			if err != nil {
				t.Errorf("%s/%s, %s: %v", name, key, exec, err)
			}
			return job
		}

		blocks := pages.Blocks(t, sqlPage, "sql")
		if len(blocks) != 3 {
			t.Fatalf("%s has %d blocks of SQL: say here what the new ones are for", sqlPage, len(blocks))
		}
		runs(t, app, pages.Block(t, sqlPage, "sql", "VALUES ('order', '42', 'order-unshipped', UTC_TIMESTAMP(6) + INTERVAL 3 HOUR)"))
		job := pending("order", "42", "order-unshipped")
		if left := time.Until(job.DueAt); left < 170*time.Minute || left > 181*time.Minute || job.NextCheckAt.Before(job.DueAt) {
			t.Errorf("%+v", job)
		}
		runs(t, app, "CALL pending('order', '42')")
		runs(t, app, "CALL cancel('order', '42', NULL)")
		if _, err := checks.Get(ctx, owner, prescient.Entity{Name: "order", Key: "42"}, "order-unshipped", ""); err == nil {
			t.Error("the check was not cancelled")
		}

		runs(t, app, pages.Block(t, sqlPage, "sql", "INSERT INTO schedule "))
		pending("schedule", "digest/7", "schedule.fire")
		schedules := schedule.New(checks)
		registry := prescient.NewRegistry()
		must(schedules.Register(registry))
		w, err := worker.New(ctx, owner, worker.Options{Registry: registry})
		must(err)
		_, err = owner.Exec("UPDATE future_job SET due_at = due_at - INTERVAL 1 DAY, first_check_at = first_check_at - INTERVAL 1 DAY, " +
			"next_check_at = next_check_at - INTERVAL 1 DAY WHERE entity_name = 'schedule'")
		must(err)
		_, err = w.Sweep(ctx)
		must(err)
		if s, err := schedules.Get(ctx, owner, "digest/7"); err != nil || !s.Enabled || s.DisabledReason != "" || string(s.Payload) != "user 7" {
			t.Errorf("the schedule is %+v, %v", s, err)
		}
		if timer := pending("schedule", "digest/7", "schedule.fire"); !timer.NextCheckAt.After(time.Now()) {
			t.Errorf("its timer waits for %s", timer.NextCheckAt)
		}
		runs(t, app, "CALL delete_schedules('user', '7')")

		var slots []struct {
			Slot     time.Time  `db:"slot"`
			Done     int        `db:"SUM(done)"`
			Finished *time.Time `db:"MAX(finished_at)"`
			RunBy    string     `db:"GROUP_CONCAT(DISTINCT run_by)"`
		}
		must(owner.Select(&slots, strings.TrimSuffix(pages.Block(t, sqlPage, "sql", "FROM slot_run"), ";\n")))
		if len(slots) == 0 {
			t.Error("the ledger has no slot")
		}

		outbox := event.New(checks)
		runs(t, app, pages.Block(t, "prescient/event/README.md", "sql", "CALL publish"))
		b := &told{}
		f, err := forward.New(ctx, owner, forward.Options{Taken: outbox.Taken(), Routes: []forward.Route{{Topics: "*", Broker: b}}})
		must(err)
		must(f.RunUntilEmpty(ctx))
		if len(b.got) != 1 || b.got[0].ID != "order-42-late" || b.got[0].Topic != "orders.late" || b.got[0].Key != "order/42" || string(b.got[0].Body) != `{"order":42}` {
			t.Errorf("published %+v", b.got)
		}
		var astray int
		must(owner.Get(&astray, "SELECT COUNT(*) FROM event_outbox"))
		if astray != 0 {
			t.Errorf("%d events are in the outbox still", astray)
		}

		runs(t, app, pages.Block(t, "jobs/delayq/README.md", "sql", "INSERT INTO future_job"))
		var payload string
		must(owner.Get(&payload, "SELECT payload FROM future_job WHERE entity_name = 'delayq' AND job_exec = 'reminders'"))
		if !strings.Contains(payload, "cmVtaW5kIEFkYQ==") {
			t.Errorf("its payload is %s", payload)
		}

		// Each query of the analysts, without what it gave.
		analyst := sqlx.NewDb(servertest.Open(t, pages.Account(t, d, owner, "analyst", full), ""), "mysql")
		queries := regexp.MustCompile(`(?m)^SELECT [^;]*;$`).FindAllString(pages.Block(t, sqlPage, "", "SELECT job_exec, outcome"), -1)
		if len(queries) < 5 {
			t.Errorf("only %d queries were found", len(queries))
		}
		for _, query := range queries {
			rows, err := analyst.QueryContext(ctx, query)
			if err != nil {
				t.Errorf("%v: %s", err, query)
				continue
			}
			must(rows.Close())
		}
	})
}
