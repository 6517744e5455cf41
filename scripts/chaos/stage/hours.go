package stage

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"time"

	"prescient/scripts/chaos/checker/evidence"
	"prescient/scripts/chaos/wire"
)

// Where Scenario.Hours is set, history has an hour for each second: a trigger puts each end back to days ago, and the rollups go by that
// clock. One in eight is put back by up to six hours more, as one that is late to commit. So hours are over, and summed up, while ends of them
// are committed yet.
const (
	hourIs   = time.Second
	daysBack = 45
	late     = " - INTERVAL IF(NEW.outcome <> 'expired' AND CRC32(NEW.job_key) % 8 = 0, CRC32(NEW.job_key) DIV 8 % 21600, 0) SECOND"
)

// putBack is the time of that clock for one of the server's.
func putBack(at string) string {
	return fmt.Sprintf("(SELECT past + INTERVAL %d * TIMESTAMPDIFF(MICROSECOND, began, %s) MICROSECOND FROM %shours)", time.Hour/hourIs, at, Prefix)
}

// hours are the statements that make it.
func hours() []string {
	return []string{
		"CREATE TABLE " + Prefix + "hours (began DATETIME(6) NOT NULL PRIMARY KEY, past DATETIME NOT NULL)",
		"INSERT INTO " + Prefix + "hours SELECT UTC_TIMESTAMP(6), UTC_DATE() - INTERVAL " + strconv.Itoa(daysBack) + " DAY + INTERVAL 20 HOUR",
		"CREATE TRIGGER " + Prefix + "put_back BEFORE INSERT ON " + Prefix + "job_history FOR EACH ROW SET NEW.ended_at = " + putBack("NEW.ended_at") + late,
		// The hours before were summed up, and had no ends.
		"INSERT INTO " + Prefix + "stats_hour (start, ends, summed_at, day_at) SELECT past - INTERVAL 1 HOUR, 0, began, began FROM " + Prefix + "hours",
		// What rollups did: each hour that was written, with how many ends it had before, and each that went into its day.
		"CREATE TABLE " + Prefix + "summed (n BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, had BIGINT NOT NULL, has BIGINT NOT NULL, in_day BIGINT NOT NULL)",
		"CREATE TRIGGER " + Prefix + "summed_up AFTER INSERT ON " + Prefix + "stats_hour FOR EACH ROW INSERT INTO " + Prefix + "summed (had, has, in_day) VALUES (0, NEW.ends, 0)",
		"CREATE TRIGGER " + Prefix + "summed_again AFTER UPDATE ON " + Prefix + "stats_hour FOR EACH ROW INSERT INTO " + Prefix + "summed (had, has, in_day) " +
			"SELECT OLD.ends, NEW.ends, NEW.day_at IS NOT NULL FROM DUAL WHERE NEW.ends <> OLD.ends OR NEW.day_at IS NOT NULL",
	}
}

// HourRules have the rollups of a process go by the clock of Scenario.Hours, and the lease of one that died lapse soon.
func HourRules(more ...wire.Rule) []wire.Rule {
	return append([]wire.Rule{{Match: "AS undayed", Do: wire.Rewrite, From: `UTC_TIMESTAMP\(6\)`, To: putBack("UTC_TIMESTAMP(6)")},
		{Match: Prefix + "duty", Do: wire.Rewrite, From: `INTERVAL \d+ MICROSECOND`, To: "INTERVAL 200000 MICROSECOND"}}, more...)
}

// realEnds puts ends forth again to when they were, but those that were late: only when one expired is asked for.
func realEnds(ctx context.Context, app *sql.DB, tables *evidence.Tables) error {
	var began, past string
	if err := app.QueryRowContext(ctx, "SELECT began, past FROM "+Prefix+"hours").Scan(&began, &past); err != nil {
		return err
	}
	from, err := time.Parse("2006-01-02 15:04:05.999999", began)
	if err != nil {
		return err
	}
	to, err := time.Parse(time.DateTime, past)
	if err != nil {
		return err
	}
	for i := range tables.Ended {
		tables.Ended[i].At = from.Add(tables.Ended[i].At.Sub(to) / (time.Hour / hourIs))
	}
	return nil
}
