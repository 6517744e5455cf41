package doctor

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// A setting is one of the server's that may be in the way. Those that the sessions of workers set for themselves are not
// here, unless apps take the server's: see connect.Open.
type setting struct {
	// names are what servers call it, or several that do the same. One that is in the way is enough.
	names []string
	// harm says what a value does, and how bad that is; nothing where the value is not in the way.
	harm func(value string, at bounds) (Severity, string)
	// set says what to set it to.
	set string
	// inDSN is what a DSN can have instead, for the connections that are made from it.
	inDSN string
}

// bounds are what some values are compared with.
type bounds struct {
	server    text.Server
	statement time.Duration // one try of a worker's statement may take that long
	lease     time.Duration // a transaction of a job_exec may wait for something else that long, at most
}

// What values are compared with that are no times.
const (
	leastPacket      = 16 << 20   // holds a row with the largest payload, in hexadecimal, and then some
	leastJoin        = 10_000_000 // rows of a big slot, and then some
	leastConnections = 20         // a worker has up to two for each of eight buckets, and a few more
	neededAtLeast    = 2          // connections, without which a worker runs nothing
)

// settings are what the doctor looks at. What it leaves out was tried on the servers of the tests, and is not in the way.
var settings = []setting{
	{names: []string{"read_only", "super_read_only", "innodb_read_only"},
		harm: unless(SeverityBad, "no check can be inserted or run here", "", "0", "OFF"),
		set:  "connect to the server that takes writes"},
	{names: []string{"transaction_read_only", "tx_read_only"},
		harm:  unless(SeverityBad, "the server refuses every insert, cancel and slot run (1792)", "0", "OFF"),
		set:   "set it to OFF",
		inDSN: "transaction_read_only=0 (tx_read_only=0 on MariaDB before 11.1)"},
	{names: []string{"offline_mode"},
		harm: unless(SeverityBad, "apps and workers cannot connect (3032), unless their accounts have CONNECTION_ADMIN", "0", "OFF"),
		set:  "set it to OFF"},
	{names: []string{"innodb_force_recovery"}, harm: recovering,
		set: "set it to 0 as soon as the data is saved, and restart the server"},
	{names: []string{"autocommit"},
		harm:  unless(SeverityBad, "an app's insert outside a transaction is not committed, and is lost with its connection; workers set autocommit themselves", "1", "ON"),
		set:   "set it to ON",
		inDSN: "autocommit=1"},
	{names: []string{"completion_type"},
		harm:  unless(SeverityBad, "COMMIT and ROLLBACK begin another transaction or end the connection, so that cancels and slot runs fail", "0", "NO_CHAIN"),
		set:   "set it to NO_CHAIN",
		inDSN: "completion_type=0"},
	{names: []string{"sql_safe_updates"},
		harm:  unless(SeverityBad, "migrate fails (1175), and on MariaDB a worker fails that writes a single row", "0", "OFF"),
		set:   "set it to OFF",
		inDSN: "sql_safe_updates=0"},
	{names: []string{"sql_select_limit"}, harm: below(1<<32, SeverityBad, "the server cuts reads after so many rows, without an error, and cancels and doctor miss rows"),
		set:   "set it to 18446744073709551615",
		inDSN: "sql_select_limit=18446744073709551615"},
	{names: []string{"max_join_size"}, harm: below(leastJoin, SeverityWarn, "the server refuses reads of big slots (1104)"),
		set:   "set it to 18446744073709551615",
		inDSN: "sql_big_selects=1"},
	{names: []string{"enforce_storage_engine"},
		harm: unless(SeverityWarn, "migrate cannot create a table (1286)", "", "InnoDB"),
		set:  "leave it empty"},
	{names: []string{"transaction_isolation", "tx_isolation"},
		harm: unless(SeverityWarn, "an app's transactions get that: their plain reads lock, or see what is rolled back", "READ-COMMITTED", "REPEATABLE-READ"),
		set:  "let the app use READ COMMITTED or REPEATABLE READ; workers set theirs themselves"},
	{names: []string{"sql_mode"}, harm: lax,
		set: "add STRICT_TRANS_TABLES; the library checks lengths itself"},
	{names: []string{"max_statement_time"}, harm: cutsStatements,
		set:   "set it to 0",
		inDSN: "max_statement_time=0"},
	{names: []string{"max_execution_time"}, harm: cutsReads,
		set:   "set it to 0",
		inDSN: "max_execution_time=0"},
	{names: []string{"idle_readonly_transaction_timeout", "idle_write_transaction_timeout"}, harm: cutsIdle,
		set:   "set it to 0",
		inDSN: "idle_readonly_transaction_timeout=0 and idle_write_transaction_timeout=0"},
	{names: []string{"innodb_deadlock_detect"},
		harm: unless(SeverityWarn, "every deadlock lasts until innodb_lock_wait_timeout (1205), and so do all waits for its rows", "1", "ON"),
		set:  "set it to ON"},
	{names: []string{"max_allowed_packet"}, harm: below(leastPacket, SeverityWarn, "the server refuses batches of rows with large payloads"),
		set: fmt.Sprintf("set it to %d or more", leastPacket)},
	{names: []string{"max_connections", "max_user_connections"}, harm: fewConnections,
		set: fmt.Sprintf("set it to %d for each worker and what the apps need, or more", leastConnections)},
	{names: []string{"max_prepared_stmt_count"}, harm: below(1, SeverityWarn, "migrate fails (1461)"),
		set: "set it to its default of 16382"},
	{names: []string{"alter_algorithm"},
		harm: unless(SeverityWarn, "migrate fails where a table has to be copied (1845)", "", "DEFAULT", "COPY"),
		set:  "set it to DEFAULT"},
}

func (l *look) examineSettings(context.Context) {
	l.say(settingsFindings(l.vars, bounds{server: l.tables.Server, statement: store.StatementTime(l.options.Lease), lease: l.options.Lease})...)
}

// settingsFindings judges settings of which some may be absent, since the server does not have them.
func settingsFindings(vars map[string]string, at bounds) (found []Finding) {
	for _, s := range settings {
		for _, name := range s.names {
			value, has := vars[name]
			if !has {
				continue
			}
			severity, harm := s.harm(value, at)
			if harm == "" {
				continue
			}
			do := s.set
			if s.inDSN != "" {
				do += ", or add to the DSN " + s.inDSN
			}
			found = append(found, Finding{Code: "settings", Severity: severity, Text: fmt.Sprintf("%s is %s: %s.", name, orEmpty(value), harm), Do: sentence(do)})
			break
		}
	}
	found = append(found, initConnectFindings(vars["init_connect"])...)
	return orFine(found, "settings", "no setting of the server is in the way")
}

func orEmpty(value string) string {
	if value == "" {
		return "empty"
	}
	return value
}

// unless is for a setting all of whose values do harm but some.
func unless(severity Severity, harm string, good ...string) func(string, bounds) (Severity, string) {
	return func(value string, _ bounds) (Severity, string) {
		if slices.ContainsFunc(good, func(one string) bool { return strings.EqualFold(one, value) }) {
			return SeverityOK, ""
		}
		return severity, harm
	}
}

// below is for a setting whose small values do harm.
func below(least uint64, severity Severity, harm string) func(string, bounds) (Severity, string) {
	return func(value string, _ bounds) (Severity, string) {
		if n, err := strconv.ParseUint(value, 10, 64); err != nil || n >= least {
			return SeverityOK, ""
		}
		return severity, harm
	}
}

func recovering(value string, at bounds) (Severity, string) {
	switch n, err := strconv.Atoi(value); {
	case err != nil, n == 0:
		return SeverityOK, ""
	case at.server == text.MySQL, at.server == text.VitessShard:
		return SeverityBad, "the server refuses every insert, cancel and slot run (1881)"
	}
	return SeverityWarn, "the server leaves out work that keeps data whole, and from 2 on its purge"
}

func lax(value string, _ bounds) (Severity, string) {
	mode := strings.Split(value, ",")
	if slices.Contains(mode, "STRICT_TRANS_TABLES") || slices.Contains(mode, "STRICT_ALL_TABLES") {
		return SeverityOK, ""
	}
	return SeverityWarn, "that is not strict, and the server cuts a name that is too long in a plain INSERT, without an error"
}

// cutsStatements is for MariaDB's max_statement_time, in seconds, which ends statements of all kinds.
func cutsStatements(value string, at bounds) (Severity, string) {
	seconds, err := strconv.ParseFloat(value, 64)
	switch {
	case err != nil || seconds == 0:
		return SeverityOK, ""
	case seconds < at.statement.Seconds():
		return SeverityWarn, fmt.Sprintf("the server ends statements that take longer: those of slot runs, which may take %s, and those with which migrate and reslot copy a table", at.statement)
	}
	return SeverityWarn, "the server ends statements that take longer, with which migrate and reslot copy a table"
}

// cutsReads is for MySQL's max_execution_time, in milliseconds, which ends reads only.
func cutsReads(value string, at bounds) (Severity, string) {
	if n, err := strconv.ParseInt(value, 10, 64); err != nil || n == 0 || n >= at.statement.Milliseconds() {
		return SeverityOK, ""
	}
	return SeverityWarn, fmt.Sprintf("the server ends reads that take as many milliseconds, though those of slot runs, migrate, prune, reslot and doctor may take %s", at.statement)
}

// cutsIdle is for settings of MariaDB, in seconds, that come before what a worker sets for its transactions.
func cutsIdle(value string, at bounds) (Severity, string) {
	if n, err := strconv.ParseInt(value, 10, 64); err != nil || n == 0 || n >= int64(at.lease/time.Second) {
		return SeverityOK, ""
	}
	return SeverityWarn, "a TxFunc that waits for something else for so many seconds loses its transaction, and is called again and again"
}

func fewConnections(value string, _ bounds) (Severity, string) {
	switch n, err := strconv.ParseUint(value, 10, 64); {
	case err != nil, n == 0, n >= leastConnections:
		return SeverityOK, ""
	case n < neededAtLeast:
		return SeverityBad, "a worker needs two connections, and the server refuses the second"
	}
	return SeverityWarn, "a worker has up to two connections for each of eight buckets, and the server then refuses others"
}

// initConnectFindings looks for these settings in init_connect, which sets them for the sessions of all accounts without SUPER or
// CONNECTION_ADMIN.
func initConnectFindings(statements string) (found []Finding) {
	lower := strings.ToLower(statements)
	for _, s := range settings {
		for _, name := range s.names {
			if s.inDSN != "" && strings.Contains(lower, name) {
				return []Finding{warn("settings", fmt.Sprintf("init_connect is %s: the sessions of apps get that %s, whatever the server has.", statements, name),
					"Remove that from init_connect, unless the value is right: "+s.set+".")}
			}
		}
	}
	return nil
}
