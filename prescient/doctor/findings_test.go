package doctor

import (
	"testing"
	"time"

	"prescient/prescient/internal/rig"
	text "prescient/sql"
)

func TestSettingsOfTheServerAreJudged(t *testing.T) {
	vars := func(pairs ...string) map[string]string {
		m := map[string]string{"sql_mode": "STRICT_TRANS_TABLES"}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	for _, test := range []struct {
		name  string
		found []Finding
		code  string
		want  Severity
	}{
		{"no binlog", binlogFindings(vars("log_bin", "OFF", "binlog_format", "STATEMENT")), "binlog", SeverityOK},
		{"by statement", binlogFindings(vars("log_bin", "ON", "binlog_format", "STATEMENT")), "binlog", SeverityBad},
		{"mixed", binlogFindings(vars("log_bin", "1", "binlog_format", "MIXED")), "binlog", SeverityOK},
		{"by row", binlogFindings(vars("log_bin", "ON", "binlog_format", "ROW")), "binlog", SeverityOK},
		{"a server without the setting", binlogFindings(vars("log_bin", "ON")), "binlog", SeverityOK},
		{"durable", durabilityFindings(vars("innodb_flush_log_at_trx_commit", "1", "sync_binlog", "0")), "durability", SeverityOK},
		{"not durable", durabilityFindings(vars("innodb_flush_log_at_trx_commit", "2")), "durability", SeverityWarn},
		{"binlog not durable", durabilityFindings(vars("log_bin", "ON", "sync_binlog", "0")), "durability", SeverityWarn},
		{"fine", settingsFindings(vars("read_only", "OFF", "max_allowed_packet", "67108864")), "settings", SeverityOK},
		{"a replica", settingsFindings(vars("read_only", "ON")), "settings", SeverityBad},
		{"MariaDB's way", settingsFindings(vars("read_only", "1")), "settings", SeverityBad},
		{"serializable", settingsFindings(vars("transaction_isolation", "SERIALIZABLE")), "settings", SeverityWarn},
		{"dirty reads", settingsFindings(vars("tx_isolation", "READ-UNCOMMITTED")), "settings", SeverityWarn},
		{"lax", settingsFindings(vars("sql_mode", "")), "settings", SeverityWarn},
		{"small packets", settingsFindings(vars("max_allowed_packet", "1048576")), "settings", SeverityWarn},
		{"UTC", timeZoneFindings(vars("time_zone", "SYSTEM", "system_time_zone", "UTC")), "time_zone", SeverityOK},
		{"UTC by offset", timeZoneFindings(vars("time_zone", "+00:00", "system_time_zone", "CET")), "time_zone", SeverityOK},
		{"another zone", timeZoneFindings(vars("time_zone", "SYSTEM", "system_time_zone", "CET")), "time_zone", SeverityWarn},
		{"a clock within the round trip", clockFindings(2*time.Second, 3*time.Second, time.Minute, DefaultClockWarn), "clock", SeverityOK},
		{"a clock that is off", clockFindings(-2*time.Second, 0, time.Minute, DefaultClockWarn), "clock", SeverityWarn},
		{"a clock far off", clockFindings(16*time.Second, 0, time.Minute, DefaultClockWarn), "clock", SeverityBad},
		{"no partitions", partitionFindings(nil, rig.Day, text.PartitionSpan), "partitions", SeverityWarn},
		{"the last one only", partitionFindings([]string{"MAXVALUE"}, rig.Day, text.PartitionSpan), "partitions", SeverityWarn},
		{"no last one", partitionFindings([]string{"'2026-12-01 00:00:00'"}, rig.Day, text.PartitionSpan), "partitions", SeverityBad},
		{"late", partitionFindings([]string{"'2026-11-01 00:00:00'", "MAXVALUE"}, rig.Day, text.PartitionSpan), "partitions", SeverityWarn},
		{"soon late", partitionFindings([]string{"'2026-11-20 12:00:00'", "MAXVALUE"}, rig.Day, text.PartitionSpan), "partitions", SeverityWarn},
		{"ahead", partitionFindings([]string{"'2026-11-01 00:00:00'", "'2026-12-01 00:00:00'", "MAXVALUE"}, rig.Day, text.PartitionSpan), "partitions", SeverityOK},
	} {
		if f := finding(test.found, test.code); f.Severity != test.want || test.want != SeverityOK && f.Do == "" {
			t.Errorf("%s: %+v; want %s", test.name, test.found, test.want)
		}
	}
}

func TestRightsOfTheOwnerAreReadFromItsGrants(t *testing.T) {
	for _, test := range []struct {
		grants  []string
		missing int
	}{
		{[]string{"GRANT USAGE ON *.* TO `o`@`%`", "GRANT ALL PRIVILEGES ON `shop`.* TO `o`@`%`"}, 0},
		{[]string{"GRANT SELECT, CREATE, ALTER, DROP, INDEX ON `shop`.* TO `o`@`%`"}, 0},
		{[]string{"GRANT SELECT, CREATE ON `sh\\op`.* TO `o`@`%`"}, 2 + 1},
		{[]string{"GRANT ALL PRIVILEGES ON `other`.* TO `o`@`%`", "GRANT `role`@`%` TO `o`@`%`"}, 4},
	} {
		if missing := withoutRights(test.grants, "shop"); len(missing) != test.missing {
			t.Errorf("%q: %q is missing", test.grants, missing)
		}
	}
}
