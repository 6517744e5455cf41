package steps

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/internal/rig/app"
	"prescient/prescient/localserver/servertest"
)

func TestNoStatementOfJobsScansATable(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		r.Needs(t, rig.ReadPlans)
		fill(r)
		conn, err := r.Pool(time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		j := New(r.Client, Options{})
		rig.CheckPlans(t, conn, j.statements(t), j.tables.Stmt, []string{"steps"})
	})
}

// The runs of a job that have ended are not read for the one that has not.
func TestOpenRunsAreFoundAmongManyThatHaveEnded(t *testing.T) {
	t.Parallel()
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		r := app.New(t, d, 15*time.Minute)
		r.Needs(t, rig.OnePool)
		fill(r)
		r.Exec("UPDATE p_job_run_log SET job = 'many'")
		r.Exec("UPDATE p_job_run_log SET ended_at = NULL, result = NULL WHERE occurrence IN ('17', '18')")
		r.Exec("INSERT INTO p_job_run_log SELECT 'other', occurrence, UNHEX(LPAD(HEX(9000), 32, '0')), version, scheduled_at, started_at, NULL, agent, takeovers, NULL, NULL FROM p_job_run_log WHERE occurrence = '17'")
		r.Exec("ANALYZE TABLE p_job_run_log")
		db := sqlx.NewDb(r.Pool(time.Time{}).DB, "mysql")
		db.SetMaxOpenConns(1) // the counters are those of a connection
		j := New(r.Client, Options{})
		var runs []RunLog
		var err error
		read := rig.ReadsOf(t, db, func() { runs, err = j.Runs(t.Context(), db, RunFilter{Job: "many", Open: true}) })
		if err != nil || len(runs) != 2 || runs[0].Occurrence != "18" || read > 300 {
			t.Errorf("%+v by %d reads, %v", runs, read, err)
		}
	})
}

// fill makes 4000 jobs, and a run of each.
func fill(r *app.Rig) {
	r.T.Helper()
	const n = 4000
	values := func(row func(i int) string) string {
		rows := make([]string, n)
		for i := range rows {
			rows[i] = row(i)
		}
		return strings.Join(rows, ",")
	}
	const at = "'2026-11-20 12:00:00'"
	for table, row := range map[string]func(i int) string{
		"job_definition (name, version, definition, created_at, updated_at)":  func(i int) string { return fmt.Sprintf("('j%05d',1,'{}',%s,%s)", i, at, at) },
		"step_definition (name, version, definition, created_at, updated_at)": func(i int) string { return fmt.Sprintf("('s%05d',1,'{}',%s,%s)", i, at, at) },
		"job_step (step, job)":                               func(i int) string { return fmt.Sprintf("('s%05d','j%05d')", i/4, i) },
		"job_version (job, version, definition, created_at)": func(i int) string { return fmt.Sprintf("('j%05d',%d,'{}',%s)", i/4, i%4+1, at) },
		"job_run_log": func(i int) string {
			return fmt.Sprintf("('j%05d','%d',UNHEX(LPAD(HEX(%d), 32, '0')),1,%s + INTERVAL %d MINUTE,%s,%s,'a',0,'done',NULL)", i/4, i, i, at, i, at, at)
		},
		"step_run_log (job, occurrence, seq, position, step, job_exec, attempt, scheduled_at, started_at, ended_at, agent, result, error, output, output_cut)": func(i int) string {
			return fmt.Sprintf("('j%05d','%d',1,1,'s','x',1,%s,%s + INTERVAL %d MINUTE,%s,'a','done',NULL,NULL,0)", i/4, i, at, at, i, at)
		},
	} {
		r.Exec("INSERT INTO p_" + table + " VALUES " + values(row))
		name, _, _ := strings.Cut(table, " ")
		r.Exec("ANALYZE TABLE p_" + name)
	}
}

func (j *Jobs) statements(t *testing.T) (all []rig.Explained) {
	t.Helper()
	const byName, byRun, byCall = "PRIMARY 66", "PRIMARY 132", "PRIMARY 136"
	add := func(statement, query string, reached map[string]string, args ...any) {
		all = append(all, rig.Explained{Statement: statement, Query: query, Reached: reached, Args: args})
	}
	fill := func(name string, reached map[string]string, words ...string) {
		add(name, j.tables.Fill(name, words...), reached)
	}
	jobs, shared := map[string]string{"p_job_definition": byName}, map[string]string{"p_step_definition": byName}
	for _, lock := range []string{"", "FOR UPDATE"} {
		add("steps/job_find "+lock, j.tables.Fill("steps/job_find", "{names}", "'j00001','j00002'", "{lock}", lock), jobs)
		add("steps/step_find "+lock, j.tables.Fill("steps/step_find", "{names}", "'s00001','s00002'", "{lock}", lock), shared)
	}
	fill("steps/job_list", jobs, "{after}", "'j03000'", "{limit}", "10")
	fill("steps/step_list", shared, "{after}", "'s03000'", "{limit}", "10")
	fill("steps/job_insert", nil, "{row}", "('new',1,'{}',UTC_TIMESTAMP(6),UTC_TIMESTAMP(6))")
	fill("steps/step_insert", nil, "{row}", "('new',1,'{}',UTC_TIMESTAMP(6),UTC_TIMESTAMP(6))")
	fill("steps/job_update", jobs, "{version}", "2", "{definition}", "'{}'", "{name}", "'j00001'")
	fill("steps/step_update", shared, "{version}", "2", "{definition}", "'{}'", "{name}", "'s00001'")
	fill("steps/job_delete", jobs, "{name}", "'j00001'")
	fill("steps/step_delete", shared, "{name}", "'s00001'")
	fill("steps/use_find", map[string]string{"p_job_step": "PRIMARY 66"}, "{step}", "'s00001'", "{lock}", "")
	fill("steps/use_insert", nil, "{rows}", "('s00001','new')")
	fill("steps/use_delete", map[string]string{"p_job_step": "PRIMARY 132"}, "{job}", "'j00004'", "{steps}", "'s00001','s00002'")
	fill("steps/version_insert", nil, "{row}", "('new',1,'{}',UTC_TIMESTAMP(6))")
	fill("steps/version_last", nil, "{job}", "'j00001'") // the server reads the one entry while it plans
	fill("steps/version_find", map[string]string{"p_job_version": "PRIMARY 74"}, "{job}", "'j00001'", "{version}", "2")
	fill("steps/version_list", map[string]string{"p_job_version": "PRIMARY 66"}, "{job}", "'j00001'", "{limit}", "10")

	key := prescient.KeyOf(prescient.Entity{Name: "a", Key: "b"}, "x", "")
	add("steps/begin", j.tables.Stmt.Get("steps/begin"), nil, "new", "1", key[:], 1, rig.At("12:00"), rig.At("12:00"), "a", 0)
	add("steps/end", j.tables.Stmt.Get("steps/end"), nil, "new", "1", key[:], rig.At("12:00"), rig.At("12:00"), "a", "done", nil)
	add("steps/go_on", j.tables.Stmt.Get("steps/go_on"), map[string]string{"p_job_run_log": byRun}, "a", 1, "j00001", "5")
	add("steps/note", j.tables.Stmt.Get("steps/note"), map[string]string{"p_job_run_log": byRun}, "it failed", "j00001", "5")
	add("steps/call", j.tables.Stmt.Get("steps/call"), nil, "new", "1", 1, 1, "s", "x", 1, nil, "a")
	add("steps/answer", j.tables.Stmt.Get("steps/answer"), map[string]string{"p_step_run_log": byCall}, "done", nil, nil, 0, "j00001", "5", 1)
	add("steps/lost", j.tables.Stmt.Get("steps/lost"), map[string]string{"p_step_run_log": byRun}, "crashed", nil, "j00001", "5")
	add("steps/paused", j.tables.Stmt.Get("steps/paused"), map[string]string{"p_job_pause": "PRIMARY 66"}, "x", prescient.AllExecs)
	add("steps/kept", j.tables.Stmt.Get("steps/kept"), nil, key[:], 1) // there is none, as the server sees while it plans
	for name, f := range map[string]struct {
		filter RunFilter
		log    string
	}{
		"all": {RunFilter{}, "scheduled_at 8"}, "since": {RunFilter{Since: rig.At("13:00")}, "scheduled_at 8"},
		"job": {RunFilter{Job: "j00001"}, "job_scheduled_at 66"}, "job-since": {RunFilter{Job: "j00001", Since: rig.At("13:00")}, "job_scheduled_at 74"},
		"one": {RunFilter{Job: "j00001", Occurrence: "5"}, byRun}, "open": {RunFilter{Open: true}, "ended_at 17"}, "open-of-a-job": {RunFilter{Job: "j00001", Open: true}, "ended_at 9"},
	} {
		query, err := j.runsQuery(f.filter)
		if err != nil {
			t.Fatal(err)
		}
		reached := map[string]string{"log": f.log, "run": "PRIMARY 16", "job": "job_key 16"}
		if name == "one" {
			delete(reached, "job") // the server sees that there is no such run, and looks no further
		}
		add("steps/runs "+name, query, reached)
	}
	fill("steps/last_runs", map[string]string{"named": byName, "log": byRun, "last": "job_scheduled_at 66", "run": "PRIMARY 16", "job": "job_key 16"}, "{names}", "'j00001','j00002','j00003'")
	add("steps/run_steps", j.tables.Fill("steps/run_steps", "{runs}", "job = 'j00001' AND occurrence = '5' OR job = 'j00002' AND occurrence = '9'", "{output}", "output"),
		map[string]string{"p_step_run_log": byRun})
	add("steps/ends", j.tables.Fill("steps/ends", "{keys}", "X'00000000000000000000000000000001',X'00000000000000000000000000000002'"),
		map[string]string{"p_job_history": "job_key 16"})
	return all
}
