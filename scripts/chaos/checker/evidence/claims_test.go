package evidence

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient/localserver/servertest"
	"prescient/sql/migrate"
)

// noon is the time of what the test writes.
var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestMain(m *testing.M) { servertest.Main(m) }

func TestAllClaimsAreKnownWhereATriggerMayNoteThem(t *testing.T) {
	servertest.Each(t, func(t *testing.T, d servertest.Database) {
		owner := d.Open(t, "")
		user := fmt.Sprintf("untrusted_%d", rand.Uint32())
		exec := func(statements ...string) {
			t.Helper()
			for _, s := range statements {
				if _, err := owner.ExecContext(t.Context(), s); err != nil {
					t.Fatalf("%s: %v", s, err)
				}
			}
		}
		exec("CREATE USER "+user+" IDENTIFIED BY 'Secret-42'", "GRANT SELECT, INSERT, UPDATE, CREATE, DROP ON *.* TO "+user)
		t.Cleanup(func() { _, _ = owner.Exec("DROP USER " + user) })
		config, err := mysql.ParseDSN(d.DSN)
		if err != nil {
			t.Fatal(err)
		}
		config.User, config.Passwd = user, "Secret-42"
		for _, tt := range []struct {
			prefix, dsn string
			all         bool
			want        []string
		}{
			{"a_", d.DSN, true, []string{"a", "b", "a"}},
			{"b_", config.FormatDSN(), false, []string{"a"}},
		} {
			if _, err := migrate.Up(t.Context(), owner, migrate.Schema{Prefix: tt.prefix, Resolution: time.Minute}); err != nil {
				t.Fatal(err)
			}
			if err := Watch(t.Context(), servertest.Open(t, tt.dsn, ""), tt.prefix); err != nil {
				t.Fatal(err)
			}
			exec("CREATE TABLE " + tt.prefix + "effects (id BIGINT NOT NULL, checks INT NOT NULL)")
			exec("INSERT INTO "+tt.prefix+"slot_run (slot, bucket, buckets) VALUES ('2026-03-01 12:00', 1, 3)",
				"UPDATE "+tt.prefix+"slot_run SET token = 5, worker = 'a', allocated_until = UTC_TIMESTAMP(6)",
				"UPDATE "+tt.prefix+"slot_run SET allocated_until = UTC_TIMESTAMP(6), done = done + 1", // no claim
				"UPDATE "+tt.prefix+"slot_run SET token = 9, worker = 'b', allocated_until = UTC_TIMESTAMP(6)",
				"UPDATE "+tt.prefix+"slot_run SET allocated_until = NULL",
				"UPDATE "+tt.prefix+"slot_run SET token = token + 1", // divided
				"UPDATE "+tt.prefix+"slot_run SET token = 12, worker = 'a', allocated_until = UTC_TIMESTAMP(6)")
			exec("INSERT INTO "+tt.prefix+"long_run (job_key, schedule_id, occurrence, agent, token, allocated_until, slot, due_at, inserted_at, check_count, started_at, called_at) "+
				"VALUES ('k', 's', '60', 'a', 7, UTC_TIMESTAMP(6), '2026-03-01 12:00', '2026-03-01 12:00', '2026-03-01 11:00', 0, '2026-03-01 12:00', '2026-03-01 12:00'), "+
				"('w', 's', '120', '', 0, NULL, '2026-03-01 12:00', '2026-03-01 12:00', '2026-03-01 11:00', 0, NULL, NULL)", // it waits
				"UPDATE "+tt.prefix+"long_run SET allocated_until = UTC_TIMESTAMP(6), checkpoint = 'c' WHERE job_key LIKE 'k%'", // no start
				"UPDATE "+tt.prefix+"long_run SET token = 9, agent = 'b', called_at = '2026-03-01 12:01' WHERE job_key LIKE 'k%'",
				"UPDATE "+tt.prefix+"long_run SET agent = '', allocated_until = NULL WHERE job_key LIKE 'k%'")
			if err := MakeJobs(t.Context(), owner, tt.prefix); err != nil {
				t.Fatal(err)
			}
			tables, err := Read(t.Context(), d.Open(t, "parseTime=true"), tt.prefix, []string{"done", "failed"})
			if err != nil {
				t.Fatal(err)
			}
			var workers []string
			for _, c := range tables.Claims {
				workers = append(workers, c.Worker)
				if c.Bucket != 1 || c.Buckets != 3 || c.Token < 5 || c.At.IsZero() || !c.Slot.Equal(noon) {
					t.Errorf("%s: %+v", tt.prefix, c)
				}
			}
			if noted := []Start{{"s", "60", 7, "a", noon, noon}, {"s", "60", 9, "b", noon, noon.Add(time.Minute)}}; tt.all && !slices.Equal(tables.Starts, noted) || !tt.all && tables.Starts != nil {
				t.Errorf("%s: starts %+v", tt.prefix, tables.Starts)
			}
			if fmt.Sprint(workers) != fmt.Sprint(tt.want) || tables.AllClaims != tt.all {
				t.Errorf("%s: claims of %q, all of them: %t; want %q, %t", tt.prefix, workers, tables.AllClaims, tt.want, tt.all)
			}
		}
	})
}
