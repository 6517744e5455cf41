package campaign

import (
	"maps"
	"math/rand/v2"
	"slices"

	"prescient/scripts/chaos/checker/evidence"
)

// What the columns of each kind are given, as literals.
var (
	moments = []string{"'0000-00-00'", "'1000-01-01'", "'1970-01-01 00:00:00'", "UTC_TIMESTAMP(6)", "UTC_TIMESTAMP(6) - INTERVAL 3 YEAR", "UTC_TIMESTAMP(6) + INTERVAL 2 SECOND",
		"UTC_TIMESTAMP(6) + INTERVAL 20 YEAR", "'9999-12-31 23:59:59.999999'", "NULL"}
	names = []string{"''", "' '", "'e'", "'e '", "' e'", "'a\\0b'", "'a\\nb'", "REPEAT('x', 64)", "REPEAT('x', 65)", "REPEAT('x', 400)", "'schedule'", "'SCHEDULE'", "'ÿ'",
		"CONVERT(X'F09F9880' USING utf8mb4)", "CONVERT(X'E2808B' USING utf8mb4)", "REPEAT(CONVERT(X'F09F9880' USING utf8mb4), 128)", "NULL"}
	numbers = []string{"0", "1", "-1", "63", "64", "255", "65535", "4294967295", "9223372036854775807", "18446744073709551615", "NULL"}
	bodies  = []string{"NULL", "'{}'", "'null'", "'[]'", "'no json'", "X'00FF'", "REPEAT('x', 65535)", "REPEAT('x', 1048577)", "REPEAT('x', 5000000)", "CONCAT(REPEAT('[', 90), REPEAT(']', 90))"}
	times   = []string{"'[\"* * * * * *\"]'", "'*/2 * * * * *'", "'* * * * * *'", "'@every 1s'", "'@every 0s'", "'60 * * * *'", "''", "REPEAT('* * * * *\\n', 500)", "'0 9 *,15 * mon'"}
)

// bounded are the tables that apps write, with what each column is given.
var bounded = map[string]map[string][]string{
	"future_job": {"entity_key": names, "job_exec": {"'nobody has it'", "'outsider'", "''", "'schedule.fire'", "REPEAT('x', 65)"}, "tag": names, "due_at": moments, "payload": bodies,
		"expires_at": moments, "next_check_at": moments, "first_check_at": moments, "job_key": {"X'00'", "REPEAT(X'FF', 16)", "NULL"}, "revision": numbers, "check_count": numbers,
		"error_count": numbers, "total_ms": numbers, "inserted_at": moments},
	"event_outbox": {"seq": numbers, "shard": numbers, "topic": {"'nobody'", "''", "' '", "REPEAT('x', 249)", "REPEAT('x', 5000)", "'a b'", "NULL"}, "payload": bodies,
		"generated_at": moments, "inserted_at": moments, "schedule_id": names},
	"schedule": {"crontabs": times, "zone": {"'Europe/Berlin'", "''", "'Mars/Olympus'", "'../../etc/passwd'", "REPEAT('x', 64)"}, "payload": bodies, "job_exec": names, "topic": names,
		"catch_up": {"'once'", "'all'", "'skip'", "'never'"}, "catch_up_within": numbers, "expires_after": numbers, "jitter": numbers, "quota": numbers, "tolerance": numbers,
		"pool": names, "overlap": {"'queue'", "'allow'", "'x'"}, "version": numbers, "enabled": numbers, "created_at": moments, "updated_at": moments, "passed_over": numbers},
	"audit_log": {"stream": {"REPEAT(X'00', 16)", "REPEAT(X'FF', 16)"}, "seq": numbers, "at": moments, "account": names, "id": names, "version": numbers, "person": names,
		"before_change": bodies, "after_change": bodies, "pruned": numbers},
	"event_seen": {"consumer": names, "event_id": names, "id": names, "seen_at": moments, "at": moments},
}

// sound are the columns that each row of a table has, with one value that is good.
func sound(table, key string) (columns, values []string) {
	name := "'" + key + "'"
	switch table {
	case "future_job":
		return []string{"entity_name", "entity_key", "job_exec", "due_at"}, []string{"'" + evidence.OutsiderPrefix + "'", name, "'outsider'", "UTC_TIMESTAMP(6)"}
	case "event_outbox":
		return []string{"shard", "id", "topic", "event_key", "generated_at", "inserted_at"}, []string{"7", name, "'nobody'", name, "UTC_TIMESTAMP(6)", "UTC_TIMESTAMP(6)"}
	case "schedule":
		return []string{"id", "crontabs", "topic"}, []string{name, "'@every 1s'", "'nobody'"}
	case "audit_log":
		return []string{"stream", "kind", "id", "verb"}, []string{"SUBSTRING(UNHEX(SHA2(CONCAT('schedule', UNHEX('00'), 'p0.1'), 256)), 1, 16)", "'schedule'", "'p0.1'", "'update'"}
	}
	return []string{"consumer", "event_id"}, []string{"'c'", name}
}

// atBounds makes a row of some table: a good one, but for one to three columns.
func atBounds(dice *rand.Rand, key string) (table string, columns, values []string) {
	table = oneOf(dice, "future_job", "future_job", "event_outbox", "event_outbox", "schedule", "audit_log", "event_seen")
	columns, values = sound(table, key)
	others := slices.Sorted(maps.Keys(bounded[table]))
	for range 1 + dice.IntN(3) {
		column := oneOf(dice, others...)
		value := oneOf(dice, bounded[table][column]...)
		if at := slices.Index(columns, column); at >= 0 {
			values[at] = value
		} else {
			columns, values = append(columns, column), append(values, value)
		}
	}
	return table, columns, values
}

func oneOf[T any](dice *rand.Rand, list ...T) T { return list[dice.IntN(len(list))] }
