package acceptance

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/jmoiron/sqlx"

	"prescient/prescient/client"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver/servertest"
	"prescient/prescient/localserver/vitess"
	"prescient/prescient/shards"
	text "prescient/sql"
	"prescient/sql/migrate"
)

// startVitess starts a cluster that is closed at the end of the test. PRESCIENT_SERVER_DIR says where scripts/vitess has built one; without, the test
// is skipped.
func startVitess(t *testing.T, options vitess.Options) *vitess.Cluster {
	t.Helper()
	cluster, err := vitess.Start(t.Context(), options)
	if errors.Is(err, vitess.ErrNotFound) {
		t.Skip(err)
	}
	rig.Fatal(t, err)
	t.Cleanup(func() { rig.Fatal(t, cluster.Close()) })
	return cluster
}

// twoShards starts a cluster of two shards that are migrated, with a pool for all of them, as an app has one, and a client.
func twoShards(t *testing.T) (*vitess.Cluster, *sqlx.DB, *client.Client) {
	t.Helper()
	vschema, err := shards.VSchema("p_", nil)
	rig.Fatal(t, err)
	cluster := startVitess(t, vitess.Options{Shards: 2, VSchema: string(vschema)})
	for _, shard := range cluster.Shards {
		_, err := migrate.Up(t.Context(), servertest.Open(t, shard.DSN(), ""), migrate.Schema{Prefix: "p_", Resolution: time.Minute})
		rig.Fatal(t, err)
	}
	rig.Fatal(t, cluster.Control(t.Context(), "ReloadSchemaKeyspace", vitess.Keyspace))
	app := sqlx.NewDb(servertest.Open(t, cluster.DSN(), "parseTime=true"), "mysql")
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(100 * time.Millisecond) { // the gate hears of the last column a moment later
		_, err := app.ExecContext(t.Context(), "SELECT MAX(CAST(job.occasion_at + INTERVAL 0 DAY AS CHAR)) FROM p_future_job job WHERE job.job_key = X'00'")
		if err == nil {
			break
		}
		if time.Now().After(until) {
			t.Fatal(err)
		}
	}
	c, err := client.New(t.Context(), app, client.Options{Prefix: "p_"})
	rig.Fatal(t, err)
	return cluster, app, c
}

// eachCommitIsOnOneShard is for the end of a test: no transaction crossed shards.
func eachCommitIsOnOneShard(t *testing.T, cluster *vitess.Cluster) {
	t.Helper()
	commits, err := cluster.Counts(context.WithoutCancel(t.Context()), "CommitModeTimings")
	if rig.Fatal(t, err); commits["Single"] == 0 || len(commits) != 1 {
		t.Errorf("transactions were committed as %v; want each on one shard", commits)
	}
}

// A DELETE of several rows names its index, and Vitess parses it, and prints it for the MySQL of the shard: what arrives there goes by that index.
func TestADeleteOnAShardOfVitessGoesByTheIndexThatItNames(t *testing.T) {
	cluster := startVitess(t, vitess.Options{Shards: 1, VSchema: `{"sharded": true, "vindexes": {"itself": {"type": "binary"}},
		"tables": {"p_future_job": {"column_vindexes": [{"column": "job_key", "name": "itself"}]}}}`})
	own := servertest.Open(t, cluster.Shards[0].Server.DSN("vt_"+vitess.Keyspace), "multiStatements=true") // the MySQL itself
	_, err := migrate.Up(t.Context(), own, migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute})
	rig.Fatal(t, err)
	_, err = own.ExecContext(t.Context(), "INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) "+
		"WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT 'order', i, 'check', '2026-11-20 13:10:00' FROM n; "+
		"INSERT INTO p_event_outbox (shard, seq, id, topic, event_key, generated_at, inserted_at) "+
		"WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 1000) SELECT 7, i, i, 'orders', i, UTC_TIMESTAMP(6), UTC_TIMESTAMP(6) FROM n; "+
		"ANALYZE TABLE p_future_job, p_event_outbox")
	rig.Fatal(t, err)
	rig.Fatal(t, cluster.Control(t.Context(), "ReloadSchemaKeyspace", vitess.Keyspace))

	var keys []string
	var revision uint64
	rows, err := own.QueryContext(t.Context(), "SELECT CONCAT('X''', HEX(job_key), ''''), revision FROM p_future_job ORDER BY job_key DESC LIMIT 3")
	rig.Fatal(t, err)
	for rows.Next() {
		var key string
		rig.Fatal(t, rows.Scan(&key, &revision)) // that of the last one stays
		keys = append(keys, key)
	}
	rig.Fatal(t, rows.Err())
	rig.Fatal(t, rows.Close())
	const slot = "'2026-11-20 13:15:00'"
	three, last := strings.Join(keys, ","), keys[2]
	asRead := fmt.Sprintf("job.next_check_at = %s AND job.job_key = %s AND job.revision = %d", slot, last, revision)
	bySlotAndKey := map[string]string{"job": rig.BySlotAndKey}
	deletes := map[string]struct {
		fill    []string // what braces and question marks stand for, in their order
		reached map[string]string
	}{
		"client/delete":        {[]string{"{rows}", asRead}, bySlotAndKey},
		"client/bookends_away": {[]string{"{slot}", slot, "{keys}", three}, bySlotAndKey},
		"longrun/delete":       {[]string{"job.next_check_at = ? AND job.job_key = ? AND job.revision = ?", asRead}, bySlotAndKey},
		"slotrun/end":          {[]string{"?", slot, "{keys}", three}, bySlotAndKey},
		"slotrun/end_ranges":   {[]string{"?", slot, "{ranges}", "job.job_key >= " + last + " AND job.job_key < " + keys[0]}, bySlotAndKey},
		"slotrun/end_each":     {[]string{"JSON_TABLE(?", `JSON_TABLE('["` + last[2:len(last)-1] + `"]'`, "= ?", "= " + slot}, bySlotAndKey},
		"event/delete":         {[]string{"{seqs}", "1,2,3"}, map[string]string{"one": "seq 8"}},
		"prune/ledger_end":     {[]string{"{slots}", slot}, map[string]string{"run": "PRIMARY 5"}},
		"prune/exec_end":       {[]string{"{slots}", slot}, map[string]string{"line": "PRIMARY 5"}},
		"prune/audit_end": {[]string{"{entries}", "SELECT CAST('2026-11-20 00:10:00.000000' AS DATETIME(6)) AS at, X'0000000000000258' AS entry UNION ALL " +
			"SELECT CAST('2026-11-20 00:10:01.000000' AS DATETIME(6)), X'0000000000000259'"}, map[string]string{"old": "PRIMARY 16"}},
		"forecast/clear":      {[]string{"?", "'slot'"}, map[string]string{"line": "PRIMARY 1"}},
		"forecast/clear_fits": {[]string{"?", "'slot'"}, map[string]string{"line": "PRIMARY 1"}},
	}
	statements, err := text.LoadFor(text.Full, "p_")
	rig.Fatal(t, err)
	conn, err := own.Conn(t.Context())
	rig.Fatal(t, err)
	defer conn.Close()
	targeted := servertest.Open(t, cluster.Shards[0].DSN(), "")
	hinted := regexp.MustCompile(`^DELETE [a-z]+ FROM (?s:.*)FORCE INDEX`)
	for name, statement := range statements {
		if !hinted.MatchString(statement) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			of, known := deletes[name]
			if !known {
				t.Fatal("it is not tried here")
			}
			_, err := own.ExecContext(t.Context(), "TRUNCATE TABLE performance_schema.events_statements_history")
			rig.Fatal(t, err)
			tx, err := targeted.BeginTx(t.Context(), nil)
			rig.Fatal(t, err)
			defer tx.Rollback()
			_, err = tx.ExecContext(t.Context(), strings.NewReplacer(of.fill...).Replace(statement))
			rig.Fatal(t, err)
			sent := arrived(t, own)
			rig.Fatal(t, tx.Rollback()) // EXPLAIN reads the row that a unique key finds, and waits for its lock
			if !strings.Contains(strings.ToUpper(sent), "FORCE INDEX") {
				t.Errorf("the hint did not arrive: %s", sent)
			}
			rig.Explained{Statement: name, Query: sent, Reached: of.reached}.Check(t, conn)
		})
	}

	// Untargeted, in plain, it arrives without the hint.
	plain, err := text.LoadFor(text.Plain, "p_")
	rig.Fatal(t, err)
	result, err := servertest.Open(t, cluster.DSN(), "").ExecContext(t.Context(), strings.ReplaceAll(plain.Get("client/delete"), "{rows}", asRead))
	rig.Fatal(t, err)
	if n, err := result.RowsAffected(); n != 1 || err != nil {
		t.Errorf("untargeted it deleted %d rows, %v; want 1", n, err)
	}
}

// The tables of each shard are made by a session that is targeted at it, whole but for procedures, and dropped by one.
func TestAShardOfVitessIsMigratedByASessionThatIsTargetedAtIt(t *testing.T) {
	cluster := startVitess(t, vitess.Options{Shards: 2})
	schema := migrate.Schema{Prefix: "p_", Resolution: 15 * time.Minute}
	for _, shard := range cluster.Shards {
		targeted := servertest.Open(t, shard.DSN(), "")
		server, dialect, err := text.Auto.Choose(t.Context(), targeted)
		if err != nil || server != text.VitessShard || dialect != text.Full {
			t.Fatalf("%s is %q, and spoken to in %s, %v", shard.Name, server, dialect, err)
		}
		for i := range 2 { // again there is nothing to do
			applied, err := migrate.Up(t.Context(), targeted, schema)
			if rig.Fatal(t, err); (len(applied) > 0) != (i == 0) {
				t.Errorf("%s: %d migrations were applied at time %d", shard.Name, len(applied), i)
			}
		}
		own := servertest.Open(t, shard.Server.DSN("vt_"+vitess.Keyspace), "")
		damages, err := migrate.Damages(t.Context(), targeted, schema)
		if rig.Fatal(t, err); len(damages) > 0 {
			t.Errorf("%s is damaged: %v", shard.Name, damages)
		}
		_, err = own.ExecContext(t.Context(), "INSERT INTO p_future_job (entity_name, entity_key, job_exec, due_at) VALUES ('order', '1', 'check', '2026-11-20 13:10:00')")
		rig.Fatal(t, err) // the rest is filled in by the table
	}
	keyspace := servertest.Open(t, cluster.DSN(), "")
	if server, dialect, err := text.Auto.Choose(t.Context(), keyspace); err != nil || server != text.Vitess || dialect != text.Plain {
		t.Errorf("the keyspace is %q, and spoken to in %s, %v", server, dialect, err)
	}
	for _, shard := range cluster.Shards {
		_, err := migrate.Down(t.Context(), servertest.Open(t, shard.DSN(), ""), schema)
		rig.Fatal(t, err)
		var left sql.NullString
		rig.Fatal(t, servertest.Open(t, shard.Server.DSN("vt_"+vitess.Keyspace), "").QueryRowContext(t.Context(),
			"SELECT GROUP_CONCAT(table_name) FROM information_schema.tables WHERE table_schema = DATABASE()").Scan(&left))
		if left.Valid {
			t.Errorf("%s has %s left", shard.Name, left.String)
		}
	}
}

// arrived returns the DELETE that the server has executed since its history was emptied: it notes one a moment after its answer.
func arrived(t *testing.T, server *sql.DB) (statement string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for {
		err := server.QueryRowContext(ctx, `SELECT sql_text FROM performance_schema.events_statements_history WHERE sql_text LIKE 'delete %p\_%'`).Scan(&statement)
		if !errors.Is(err, sql.ErrNoRows) {
			rig.Fatal(t, err)
			return statement
		}
		time.Sleep(time.Millisecond)
	}
}
