package doctor

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"prescient/prescient/internal/store"
)

// DefaultClockWarn is how far this machine's clock may be off: its logs would be hard to read otherwise. Slots and leases
// go by the database's clock alone.
const DefaultClockWarn = time.Second

func (d *doctor) examineClock(context.Context) ([]Finding, error) {
	return clockFindings(d.skew, d.trip, d.options.Lease, d.options.ClockWarn), nil
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

func (d *doctor) examineBinlog(ctx context.Context) ([]Finding, error) {
	// The format is that of a worker's connection, which the server's may differ from.
	var name, format string
	if err := store.QueryRow(ctx, d.db, []any{&name, &format}, "SHOW VARIABLES LIKE 'binlog_format'"); err == nil {
		d.vars["binlog_format"] = format
	}
	return binlogFindings(d.vars), nil
}

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

func (d *doctor) examineDurability(context.Context) ([]Finding, error) {
	return durabilityFindings(d.vars), nil
}

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

func (d *doctor) examineTimeZone(context.Context) ([]Finding, error) {
	return timeZoneFindings(d.vars), nil
}

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
