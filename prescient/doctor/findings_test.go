package doctor

import (
	"strings"
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
	settings := func(pairs ...string) []Finding {
		return settingsFindings(vars(pairs...), bounds{statement: 30 * time.Second, lease: time.Minute})
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
		{"durability that does not show", durabilityFindings(vars()), "durability", SeverityUnseen},
		{"a binlog that does not show", binlogFindings(vars()), "binlog", SeverityUnseen},
		{"a zone that does not show", timeZoneFindings(vars()), "time_zone", SeverityUnseen},
		{"binlog not durable", durabilityFindings(vars("log_bin", "ON", "sync_binlog", "0")), "durability", SeverityWarn},
		{"fine", settings("read_only", "OFF", "max_allowed_packet", "67108864"), "settings", SeverityOK},
		{"a replica", settings("read_only", "ON"), "settings", SeverityBad},
		{"MariaDB's way", settings("read_only", "1"), "settings", SeverityBad},
		{"serializable", settings("transaction_isolation", "SERIALIZABLE"), "settings", SeverityWarn},
		{"dirty reads", settings("tx_isolation", "READ-UNCOMMITTED"), "settings", SeverityWarn},
		{"lax", settings("sql_mode", ""), "settings", SeverityWarn},
		{"small packets", settings("max_allowed_packet", "1048576"), "settings", SeverityWarn},
		{"only reads", settings("transaction_read_only", "ON"), "settings", SeverityBad},
		{"only reads, by its old name", settings("tx_read_only", "ON"), "settings", SeverityBad},
		{"writes", settings("transaction_read_only", "OFF", "offline_mode", "OFF", "autocommit", "ON", "completion_type", "NO_CHAIN"), "settings", SeverityOK},
		{"in recovery, on MySQL", settings("innodb_force_recovery", "1"), "settings", SeverityBad},
		{"in recovery, on MariaDB", settingsFindings(vars("innodb_force_recovery", "1"), bounds{server: text.MariaDB}), "settings", SeverityWarn},
		{"in no recovery", settings("innodb_force_recovery", "0"), "settings", SeverityOK},
		{"an engine of its own", settings("enforce_storage_engine", "InnoDB"), "settings", SeverityOK},
		{"statements cut early", settings("max_statement_time", "5.500000"), "settings", SeverityWarn},
		{"statements cut late", settings("max_statement_time", "3600.000000"), "settings", SeverityWarn},
		{"no statement cut", settings("max_statement_time", "0.000000"), "settings", SeverityOK},
		{"reads cut early", settings("max_execution_time", "29999"), "settings", SeverityWarn},
		{"reads cut late", settings("max_execution_time", "30000"), "settings", SeverityOK},
		{"idle cut early", settings("idle_write_transaction_timeout", "59"), "settings", SeverityWarn},
		{"idle cut late", settings("idle_write_transaction_timeout", "60", "idle_readonly_transaction_timeout", "0"), "settings", SeverityOK},
		{"one connection", settings("max_user_connections", "1"), "settings", SeverityBad},
		{"few connections", settings("max_connections", "19"), "settings", SeverityWarn},
		{"connections enough", settings("max_connections", "20", "max_user_connections", "0"), "settings", SeverityOK},
		{"an ALTER of one kind", settings("alter_algorithm", "INPLACE"), "settings", SeverityWarn},
		{"an ALTER of any kind", settings("alter_algorithm", "DEFAULT"), "settings", SeverityOK},
		{"sets on connecting", settings("init_connect", "SET NAMES utf8mb4, AUTOCOMMIT = 0"), "settings", SeverityWarn},
		{"sets what does not matter", settings("init_connect", "SET NAMES utf8mb4"), "settings", SeverityOK},
		{"reads all", settings("sql_select_limit", "18446744073709551615", "max_join_size", "18446744073709551615"), "settings", SeverityOK},
		{"UTC", timeZoneFindings(vars("time_zone", "SYSTEM", "system_time_zone", "UTC")), "time_zone", SeverityOK},
		{"UTC by offset", timeZoneFindings(vars("time_zone", "+00:00", "system_time_zone", "CET")), "time_zone", SeverityOK},
		{"another zone", timeZoneFindings(vars("time_zone", "SYSTEM", "system_time_zone", "CET")), "time_zone", SeverityWarn},
		{"a clock within the round trip", clockFindings(2*time.Second, 3*time.Second, time.Minute, DefaultClockWarn), "clock", SeverityOK},
		{"a clock that is off", clockFindings(-2*time.Second, 0, time.Minute, DefaultClockWarn), "clock", SeverityWarn},
		{"a clock far off", clockFindings(16*time.Second, 0, time.Minute, DefaultClockWarn), "clock", SeverityBad},
		{"no partitions", partitionFindings("p_job_history", nil, rig.Day, text.PartitionSpan), "partitions", SeverityWarn},
		{"the last one only", partitionFindings("p_job_history", []string{"MAXVALUE"}, rig.Day, text.PartitionSpan), "partitions", SeverityWarn},
		{"no last one", partitionFindings("p_job_history", []string{"'2026-12-01 00:00:00'"}, rig.Day, text.PartitionSpan), "partitions", SeverityBad},
		{"late", partitionFindings("p_job_history", []string{"'2026-11-01 00:00:00'", "MAXVALUE"}, rig.Day, text.PartitionSpan), "partitions", SeverityWarn},
		{"soon late", partitionFindings("p_job_history", []string{"'2026-11-20 12:00:00'", "MAXVALUE"}, rig.Day, text.PartitionSpan), "partitions", SeverityWarn},
		{"ahead", partitionFindings("p_job_history", []string{"'2026-11-01 00:00:00'", "'2026-12-01 00:00:00'", "MAXVALUE"}, rig.Day, text.PartitionSpan), "partitions", SeverityOK},
	} {
		if f := finding(test.found, test.code); f.Severity != test.want || test.want != SeverityOK && f.Do == "" {
			t.Errorf("%s: %+v; want %s", test.name, test.found, test.want)
		}
	}
}

// What the doctor judges, it asks for.
func TestEverySettingIsRead(t *testing.T) {
	statements, err := text.Load("")
	if err != nil {
		t.Fatal(err)
	}
	asked := statements.Get("operate/variables")
	for _, s := range settings {
		for _, name := range append([]string{"init_connect"}, s.names...) {
			if !strings.Contains(asked, "'"+name+"'") {
				t.Errorf("%s is not read", name)
			}
		}
	}
}
