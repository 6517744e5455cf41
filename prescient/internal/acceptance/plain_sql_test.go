package acceptance

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/sql/migrate"
)

// rowOf has a row of each table that a role may fill by plain SQL, as the client writes it: names and expressions.
var rowOf = map[string]map[string]string{
	"future_job": {"entity_name": "'order'", "entity_key": "'42'", "job_exec": "'check'", "tag": "''", "due_at": "'2026-11-20 13:05:00'"},
	"schedule": {"id": "'a'", "crontabs": "'0 * * * *'", "zone": "'UTC'", "payload": "NULL", "job_exec": "'check'", "topic": "''", "owner_name": "'user'",
		"owner_key": "'7'", "catch_up": "'once'", "catch_up_within": "NULL", "expires_after": "NULL", "jitter": "NULL", "may_coalesce": "0", "is_long": "0",
		"overlap": "NULL", "tolerance": "NULL", "quota": "NULL", "pool": "''", "heartbeat": "''"},
	"schedule_deleted": {"id": "'a'", "fired_until": "UTC_TIMESTAMP(6)"},
	"schedule_version": {"schedule": "'a'", "created_at": "UTC_TIMESTAMP(6)", "version": "1", "ended_at": "UTC_TIMESTAMP(6)", "crontabs": "'0 * * * *'", "zone": "'UTC'", "payload": "NULL",
		"job_exec": "'check'", "topic": "''", "owner_name": "'user'", "owner_key": "'7'", "catch_up": "'once'", "catch_up_within": "NULL", "expires_after": "NULL", "jitter": "NULL", "may_coalesce": "0",
		"is_long": "0", "overlap": "NULL", "tolerance": "NULL", "quota": "NULL", "pool": "''", "heartbeat": "''"},
	"event_outbox": {"shard": "1", "id": "'i'", "topic": "'t'", "event_key": "'k'", "generated_at": "UTC_TIMESTAMP(6)", "payload": "'p'",
		"inserted_at": "UTC_TIMESTAMP(6)"},
	"audit_log": {"stream": "SUBSTRING(UNHEX(SHA2(CONCAT('check', UNHEX('00'), 'a'), 256)), 1, 16)", "kind": "'check'", "id": "'a'", "verb": "'cancel'",
		"version": "NULL", "incarnation": "NULL"},
	"job_definition":  {"name": "'nightly'", "version": "1", "definition": "'{}'", "created_at": "UTC_TIMESTAMP(6)", "updated_at": "UTC_TIMESTAMP(6)"},
	"step_definition": {"name": "'fetch'", "version": "1", "definition": "'{}'", "created_at": "UTC_TIMESTAMP(6)", "updated_at": "UTC_TIMESTAMP(6)"},
	"job_step":        {"step": "'fetch'", "job": "'nightly'"},
	"job_version":     {"job": "'nightly'", "version": "1", "definition": "'{}'", "created_at": "UTC_TIMESTAMP(6)"},
	"rule": {"name": "'remind'", "version": "2", "occasion": "'order.placed'", "job_exec": "'check'", "state": "'on'", "since": "UTC_TIMESTAMP(6)", "created_at": "UTC_TIMESTAMP(6)",
		"updated_at": "UTC_TIMESTAMP(6)"},
	"rule_version": {"rule": "'remind'", "version": "2", "created_at": "UTC_TIMESTAMP(6)", "state": "'on'", "delay": "3600", "spread": "0", "expires_after": "NULL", "on_pending": "'keep'",
		"ends": "'order.shipped,order.cancelled'", "payload": "'{\"a\": 1}'", "max_checks": "NULL", "max_errors": "-1"},
	"job_pause": {"job_exec": "'check'", "since": "UTC_TIMESTAMP(6)", "paused_by": "'me'", "reason": "''"},
	"job_history": {"entity_name": "'order'", "entity_key": "'42'", "job_exec": "'check'", "tag": "''", "due_at": "UTC_TIMESTAMP(6)", "job_key": "'1234567890123456'",
		"first_check_at": "UTC_TIMESTAMP()", "next_check_at": "UTC_TIMESTAMP()", "check_count": "0", "error_count": "0", "put_off_count": "0", "last_error": "NULL",
		"total_ms": "0", "payload": "NULL", "revision": "1", "inserted_at": "UTC_TIMESTAMP(6)", "slot": "UTC_TIMESTAMP()", "outcome": "'cancelled'", "error": "NULL",
		"started_at": "NULL", "ended_at": "UTC_TIMESTAMP(6)", "run_ms": "0", "lateness_ms": "NULL", "worker": "''", "expires_at": "NULL"},
}

const (
	zeroDate = "'0000-00-00'"
	early    = "'0999-12-31'"
)

// worst is what no client writes: by table, column and value, with what else of the row has to be another.
var worst = []struct {
	role, table string
	values      []string // of columns, as column = value
}{
	{"app-sql", "future_job", []string{"entity_name = 'Schedule'", "entity_name = 'SCHEDULE'", "entity_name = 'my order'", "entity_key = ''",
		"due_at = " + early, "expires_at = " + zeroDate}},
	{"app", "schedule", []string{"id = ''", "id = 'a '", "owner_key = ''", "owner_name = ''", "owner_name = 'the user'", "job_exec = 'my check'", "job_exec = 'schedule.fire'",
		"topic = 't'", "job_exec = '', topic = 'a b'", "job_exec = '', topic = 't', is_long = 1", "catch_up = ''", "catch_up_within = 316224001", "expires_after = 316224001",
		"jitter = 316224001", "may_coalesce = 2", "is_long = 2", "overlap = 'queue'", "tolerance = 1", "quota = 0", "quota = 1", "pool = 'p'", "heartbeat = 'a b'", "is_long = 1, overlap = ''",
		"is_long = 1, tolerance = 316224001", "is_long = 1, quota = 316224001", "is_long = 1, pool = 'a b'", "enabled = 2", "created_at = " + zeroDate,
		"created_at = " + early, "utc_offset = 93601", "utc_offset = -93601", "payload = REPEAT('x', 1048577)"}},
	{"app", "schedule_deleted", []string{"id = ''", "fired_until = " + zeroDate, "fired_until = " + early}},
	{"app", "schedule_version", []string{"schedule = ''", "schedule = 'a '", "crontabs = ''", "owner_key = ''", "owner_name = 'the user'", "job_exec = 'my check'", "job_exec = ''", "topic = 't'",
		"job_exec = '', topic = 'a b'", "catch_up = ''", "catch_up_within = 316224001", "expires_after = 316224001", "jitter = 316224001", "may_coalesce = 2", "is_long = 2", "overlap = ''",
		"tolerance = 316224001", "quota = 316224001", "pool = 'a b'", "heartbeat = 'a b'", "created_at = " + zeroDate, "ended_at = " + early, "payload = REPEAT('x', 1048577)"}},
	{"app", "audit_log", []string{"incarnation = " + zeroDate, "stream = 'x'", "before_change = REPEAT('x', 65537)"}},
	{"app", "job_definition", []string{"name = ''", "name = 'my job'", "version = 0", "definition = ''", "definition = 'x'", "definition = '[]'",
		"definition = CONCAT('{', REPEAT(' ', 8388608), '}')", "created_at = " + zeroDate, "updated_at = " + early}},
	{"app", "step_definition", []string{"name = ''", "name = 'my step'", "version = 0", "definition = ''", "definition = 'x'",
		"definition = CONCAT('{', REPEAT(' ', 131072), '}')", "created_at = " + zeroDate, "updated_at = " + early}},
	{"app", "job_step", []string{"step = ''", "job = ''", "step = 'a b'", "job = 'a b'"}},
	{"app", "job_version", []string{"job = ''", "job = 'my job'", "version = 0", "definition = 'x'", "definition = CONCAT('{', REPEAT(' ', 8388608), '}')",
		"created_at = " + zeroDate}},
	{"app-reschedule", "rule", []string{"name = ''", "name = 'my rule'", "occasion = ''", "occasion = 'order placed'", "job_exec = ''", "job_exec = 'schedule.fire'", "state = ''", "version = 0",
		"moved_to = 3", "ended_to = 3", "walked_to = 3", "since = " + zeroDate, "created_at = " + early, "updated_at = " + zeroDate, "walk_at = " + zeroDate}},
	{"app-reschedule", "rule_version", []string{"rule = ''", "rule = 'my rule'", "version = 0", "state = ''", "delay = 316224001", "spread = 316224001", "delay = 316224000, spread = 1",
		"expires_after = 0", "expires_after = 316224001", "on_pending = ''", "ends = CONCAT(',')", "ends = CONCAT('a,')", "ends = CONCAT('a,,b')", "ends = 'a b'", "payload = '[1]'", "payload = 'null'",
		"payload = CONCAT('{\"a\": \"', REPEAT('x', 65536), '\"}')", "max_checks = 0", "max_errors = -2", "max_errors = 1000001", "created_at = " + zeroDate}},
	{"operator", "job_pause", []string{"job_exec = ''", "job_exec = '**'", "job_exec = 'a b'", "since = " + zeroDate}},
	{"app", "job_history", []string{"ended_at = " + zeroDate, "ended_at = '2019-12-31'",
		"ended_at = '2100-01-01'"}},
}

// Whoever may INSERT by plain SQL is held to what the client holds.
func TestTheWorstRowsOfPlainSQLAreRefused(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		for _, of := range worst {
			conn, err := r.As(of.role, time.Time{}).Conn(t.Context())
			r.Must(err)
			_, err = conn.ExecContext(t.Context(), "SET SESSION sql_mode = ''") // which takes what is no date
			r.Must(err)
			inserts := func(values string) error {
				row := maps.Clone(rowOf[of.table])
				for _, one := range splitValues(values) {
					column, value, _ := strings.Cut(one, " = ")
					row[column] = value
				}
				columns := slices.Sorted(maps.Keys(row))
				expressions := make([]string, len(columns))
				for i, column := range columns {
					expressions[i] = row[column]
				}
				_, err := conn.ExecContext(t.Context(), fmt.Sprintf("INSERT INTO p_%s (%s) VALUES (%s)", of.table, strings.Join(columns, ", "), strings.Join(expressions, ", ")))
				return err
			}
			_, err = conn.ExecContext(t.Context(), "BEGIN")
			r.Must(err)
			if err := inserts(""); err != nil {
				t.Errorf("%s: %s: what the client writes: %v", of.role, of.table, err)
			}
			_, err = conn.ExecContext(t.Context(), "ROLLBACK")
			r.Must(err)
			for _, values := range of.values {
				_, err = conn.ExecContext(t.Context(), "BEGIN")
				r.Must(err)
				if err := inserts(values); !errno.Is(err, errno.CheckMySQL, errno.CheckMariaDB) {
					t.Errorf("%s: %s: %s: %v; want it refused", of.role, of.table, values, err)
				}
				_, err = conn.ExecContext(t.Context(), "ROLLBACK")
				r.Must(err)
			}
			r.Must(conn.Close())
		}
	})
}

// splitValues cuts at ", " outside of parentheses.
func splitValues(values string) (list []string) {
	depth, from := 0, 0
	for i, c := range values {
		switch {
		case c == '(':
			depth++
		case c == ')':
			depth--
		case c == ',' && depth == 0:
			list = append(list, values[from:i])
			from = i + 2
		}
	}
	if from < len(values) {
		list = append(list, values[from:])
	}
	return list
}

// The CHECKs have the characters that the library takes for unseen, whatever tables of Unicode it was built with.
func TestTheChecksKnowWhatCannotBeSeen(t *testing.T) {
	tables, err := migrate.Schema{Prefix: "p_"}.Expected()
	rig.Fatal(t, err)
	i := slices.IndexFunc(tables, func(table migrate.Table) bool { return table.Name == "p_future_job" })
	_, class, _ := strings.Cut(tables[i].Definition("check", "p_future_job_seen"), "'")
	class, _, _ = strings.Cut(class, "'")
	is := regexp.MustCompile(strings.ReplaceAll(class, "~", `\`))
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if r == 0xd800 { // surrogates are no characters
			r = 0xe000
		}
		if got, want := is.MatchString(string(r)), prescient.Unseen(r); got != want {
			t.Errorf("%U: unseen to the CHECKs: %t; to the library: %t", r, got, want)
		}
	}
}

// Names that cannot be seen are refused by plain SQL as by the client, and all others are taken by both.
func TestPlainSQLNamesNothingThatCannotBeSeen(t *testing.T) {
	besideOthers(t, func(t *testing.T, r *testRig) {
		r.Needs(t, rig.ColumnDefaults)
		conn, err := r.As("app", time.Time{}).Conn(t.Context())
		r.Must(err)
		defer conn.Close()
		for _, of := range []struct{ table, column string }{{"future_job", "entity_key"}, {"future_job", "tag"}, {"schedule", "id"}, {"schedule", "owner_key"},
			{"event_outbox", "id"}, {"event_outbox", "event_key"}} {
			row := maps.Clone(rowOf[of.table])
			row[of.column] = "?"
			columns := slices.Sorted(maps.Keys(row))
			expressions := make([]string, len(columns))
			for i, column := range columns {
				expressions[i] = row[column]
			}
			insert := fmt.Sprintf("INSERT INTO p_%s (%s) VALUES (%s)", of.table, strings.Join(columns, ", "), strings.Join(expressions, ", "))
			takes := func(name string) bool {
				_, err := conn.ExecContext(t.Context(), "BEGIN")
				r.Must(err)
				defer conn.ExecContext(t.Context(), "ROLLBACK")
				_, err = conn.ExecContext(t.Context(), insert, name)
				if err != nil && !errno.Is(err, errno.CheckMySQL, errno.CheckMariaDB) {
					t.Errorf("%s: %+q: %v", of.column, name, err)
				}
				return err == nil
			}
			for _, name := range slices.Concat(rig.Unseen(), []string{"x", "größe", "x{AD}", `\`, "~", "日本", "\U0001F600", "nai\u0308ve", "هل", "\u0600"}) {
				if got, want := takes(name), !strings.ContainsFunc(name, prescient.Unseen); got != want {
					t.Errorf("%s of %s: %+q: plain SQL is taken: %t; the client is: %t", of.column, of.table, name, got, want)
				}
			}
		}
	})
}
