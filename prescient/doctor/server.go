package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"prescient/prescient/blocking"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// DefaultClockWarn is how far this machine's clock may be off: its logs would be hard to read otherwise. Slots and leases
// go by the database's clock alone.
const DefaultClockWarn = time.Second

func (l *look) examineClock(context.Context) {
	l.say(clockFindings(l.skew, l.trip, l.options.Lease, l.options.ClockWarn)...)
}

// clockFindings judges a skew that is known to half a round trip.
func clockFindings(skew, trip, lease, limit time.Duration) []Finding {
	off := max(skew.Abs()-trip/2, 0)
	text := fmt.Sprintf("The server's clock and this machine's differ by %s", skew.Round(time.Millisecond))
	const do = "Keep both clocks by NTP. Slots go by the server's clock, so look there first."
	switch {
	case off > lease/4:
		return []Finding{bad("clock", text+fmt.Sprintf(", more than a quarter of the lease of %s. After a failover between such clocks leases mean nothing.", lease), do)}
	case off > limit:
		return []Finding{warn("clock", text+".", do)}
	}
	return []Finding{fine("clock", text+".")}
}

func (l *look) examineBinlog(context.Context) { l.say(binlogFindings(l.vars)...) }

func binlogFindings(vars map[string]string) []Finding {
	format := vars["binlog_format"]
	switch {
	case vars["log_bin"] == "":
		return []Finding{notShown("binlog", "log_bin")}
	case !on(vars["log_bin"]):
		return []Finding{fine("binlog", "The server writes no binlog.")}
	case strings.EqualFold(format, "STATEMENT"):
		return []Finding{bad("binlog", "binlog_format is STATEMENT. Replicas would get other revisions than the source.",
			"Set binlog_format to ROW or MIXED.")}
	}
	return []Finding{fine("binlog", "binlog_format is "+cmp.Or(format, "ROW")+".")}
}

// notShown is for a setting that the server does not show.
func notShown(code, name string) Finding {
	return unseen(code, "The server does not show "+name+".", "Ask whoever runs the server.")
}

func on(value string) bool { return value == "1" || strings.EqualFold(value, "ON") }

func (l *look) examineDurability(context.Context) { l.say(durabilityFindings(l.vars)...) }

func durabilityFindings(vars map[string]string) (found []Finding) {
	const flush = "innodb_flush_log_at_trx_commit"
	if v := vars[flush]; v != "" && v != "1" {
		found = append(found, warn("durability", "innodb_flush_log_at_trx_commit is "+v+". A crash of the server loses what was committed last.",
			"Set innodb_flush_log_at_trx_commit to 1, unless the app's own data may be lost too."))
	}
	if v := vars["sync_binlog"]; on(vars["log_bin"]) && v != "" && v != "1" {
		found = append(found, warn("durability", "sync_binlog is "+v+". A crash of the machine can leave replicas ahead of the source, or behind it.",
			"Set sync_binlog to 1 where there are replicas."))
	}
	if len(found) == 0 && vars[flush] == "" {
		return []Finding{notShown("durability", flush)}
	}
	return orFine(found, "durability", "what was committed survives a crash of the server")
}

func (l *look) examineTimeZone(context.Context) { l.say(timeZoneFindings(l.vars)...) }

func timeZoneFindings(vars map[string]string) []Finding {
	zone := vars["time_zone"]
	if zone == "" || strings.EqualFold(zone, "SYSTEM") {
		zone = vars["system_time_zone"]
	}
	switch strings.ToUpper(zone) {
	case "":
		return []Finding{notShown("time_zone", "time_zone")}
	case "UTC", "GMT", "ETC/UTC", "UCT", "Z", "+00:00", "-00:00":
		return []Finding{fine("time_zone", "The server's time zone is UTC.")}
	}
	return []Finding{warn("time_zone", "The server's time zone is "+zone+". A plain INSERT that takes due_at from NOW() is wrong by the difference to UTC.",
		"Use UTC_TIMESTAMP() in plain SQL. The library is not concerned.")}
}

// Defaults of Options for the server's purge. A server that keeps up has hundreds of transactions to purge, or a few thousand; a
// backup in one transaction is mostly over within the hour.
const (
	DefaultPurgeBehind     = 1_000_000
	DefaultTransactionOpen = time.Hour
)

// examinePurge looks how far the server's purge is behind with removing what was deleted and changed, by anybody, and at the
// transaction that is open the longest. What is not purged makes slot runs slow, and everybody else.
func (l *look) examinePurge(ctx context.Context) {
	if l.tables.Server == text.TiDB || l.tables.Server == text.Vitess {
		l.say(unseen("purge", "This server keeps no history list.", "See what the server's own tools say of old versions of rows."))
		return
	}
	behind, err := l.readBehind(ctx)
	switch {
	case errno.Is(err, errno.AccessDenied):
		l.say(withoutProcess("purge", "How far the server's purge is behind"))
	case err != nil:
		l.err = err
		return
	default:
		l.say(purgeFinding(behind, l.options.PurgeBehind))
	}
	oldest, err := blocking.OldestTransaction(ctx, l.db, l.tables)
	switch {
	case errno.Is(err, errno.AccessDenied):
		l.say(withoutProcess("purge.transaction", "Which transaction is open the longest"))
	case errno.Is(err, errno.NotShown):
		l.say(unseen("purge.transaction", fmt.Sprintf("MySQL showed no transaction for %s, since the statement of some session is no text.", blocking.ShownTime), "Run `doctor` again."))
	case err != nil:
		l.err = err
	default:
		l.say(transactionFinding(oldest, l.options.TransactionOpen))
	}
}

// withoutProcess is the finding of what the account may not see.
func withoutProcess(code, what string) Finding {
	return unseen(code, what+" is shown only to accounts with the right PROCESS, which counts for the whole server and is in no role.", "GRANT PROCESS ON *.* gives that right.")
}

// readBehind reads how many transactions are to be purged.
func (d *doctor) readBehind(ctx context.Context) (n int, err error) {
	into, query := []any{&n}, "operate/purge"
	if d.tables.Server == text.MariaDB {
		into, query = []any{new(string), &n}, "operate/purge_mariadb"
	}
	if err = store.QueryRow(ctx, d.db, into, d.tables.Stmt.Get(query)); err != nil {
		return 0, fmt.Errorf("asking how far purge is behind: %w", err)
	}
	return n, nil
}

func purgeFinding(behind, limit int) Finding {
	text := fmt.Sprintf("The server has %s transactions to purge (InnoDB's history list)", many(behind))
	if behind > limit {
		return warn("purge", fmt.Sprintf("%s, more than %s. Deleted rows stay in the tables, and every statement has to pass them.", text, many(limit)),
			"End the transaction that is open the longest, if that is long. Else the server changes more than it purges: see innodb_purge_threads, and what writes so much.")
	}
	return fine("purge", text+".")
}

func transactionFinding(oldest *blocking.Transaction, limit time.Duration) Finding {
	if oldest == nil {
		return fine("purge.transaction", "No transaction is open.")
	}
	whose, do := fmt.Sprintf("of connection %d", oldest.Connection), fmt.Sprintf("See what keeps the transaction open, and end it there or by KILL %d.", oldest.Connection)
	if oldest.Connection == 0 {
		whose, do = "without a connection", blocking.Session{}.HowToEnd("")
	}
	if oldest.Account != "" {
		whose += ", " + oldest.Account
	}
	text := fmt.Sprintf("The oldest transaction, %s, has been open for %s", whose, oldest.Age)
	if oldest.Age > limit {
		return warn("purge.transaction", fmt.Sprintf("%s, longer than %s. Meanwhile the server purges nothing that the transaction may still see.", text, limit), do)
	}
	return fine("purge.transaction", text+".")
}
