package listing

import (
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
)

// Listing is how a table is listed: [Pending] or [History].
type Listing struct {
	page, reach, count, estimate string                                 // the statements
	behind, upTo                 func(cursor string) (Condition, error) // conditions for rows after a cursor, and for those up to one
	cursor                       func(row reached) (string, time.Time)
}

// reached is the last row of a stretch.
type reached struct {
	Ended    time.Time `db:"ended_at"`
	Slot     time.Time `db:"next_check_at"`
	Key      []byte    `db:"job_key"`
	Revision uint64    `db:"revision"`
}

// Pending lists future_job, in the order in which rows come due.
var Pending = Listing{
	page: "list/pending", reach: "list/pending_reach", count: "list/pending_count", estimate: "list/pending_estimate",
	behind: func(cursor string) (c Condition, err error) {
		at, key, _, err := parseCursor(cursor, literal.SecondLayout, 2)
		c.Add("(next_check_at > ? OR next_check_at = ? AND job_key > ?)", at, at, key)
		return c, err
	},
	upTo: func(cursor string) (c Condition, err error) {
		at, key, _, err := parseCursor(cursor, literal.SecondLayout, 2)
		c.Add("(next_check_at < ? OR next_check_at = ? AND job_key <= ?)", at, at, key)
		return c, err
	},
	cursor: func(r reached) (string, time.Time) {
		return r.Slot.UTC().Format(literal.SecondLayout) + "/" + prescient.Key(r.Key).String(), r.Slot
	},
}

// History lists job_history, the latest end first.
var History = Listing{
	page: "list/history", reach: "list/history_reach", count: "list/history_count", estimate: "list/history_estimate",
	behind: func(cursor string) (c Condition, err error) {
		at, key, revision, err := parseCursor(cursor, literal.MicroLayout, 3)
		c.Add("(ended_at < ? OR ended_at = ? AND (job_key < ? OR job_key = ? AND revision < ?))", at, at, key, key, revision)
		return c, err
	},
	upTo: func(cursor string) (c Condition, err error) {
		at, key, revision, err := parseCursor(cursor, literal.MicroLayout, 3)
		c.Add("(ended_at > ? OR ended_at = ? AND (job_key > ? OR job_key = ? AND revision >= ?))", at, at, key, key, revision)
		return c, err
	},
	cursor: func(r reached) (string, time.Time) {
		return HistoryCursor(r.Ended, prescient.Key(r.Key), r.Revision), r.Ended
	},
}

// HistoryParts are the latest ends before a cursor, or before now where there is none, and then those before: what ended of an entity is looked for
// in each partition, and sorted.
func HistoryParts(after string, now time.Time) (parts []Condition, err error) {
	if after != "" {
		if now, _, _, err = parseCursor(after, literal.MicroLayout, 3); err != nil {
			return nil, err
		}
	}
	var latest, before Condition
	since := now.UTC().Add(-latestEnds)
	latest.Add("ended_at >= ?", since)
	before.Add("ended_at < ?", since)
	return []Condition{latest, before}, nil
}

// LastParts are the parts of HistoryParts as texts, for statements without parameters.
func LastParts(now time.Time) []string {
	since := literal.Of(literal.AppendMicro, now.Add(-latestEnds))
	return []string{"ended_at >= " + since, "ended_at < " + since}
}

// latestEnds is how far back an entity's latest ends are looked for at first: about a partition.
const latestEnds = 8 * 24 * time.Hour

// HistoryCursor names the place of a row in a listing of history.
func HistoryCursor(ended time.Time, key prescient.Key, revision uint64) string {
	return ended.UTC().Format(literal.MicroLayout) + "/" + key.String() + "/" + fmt.Sprint(revision)
}

// parseCursor reads a cursor of two parts, or of three with a revision.
func parseCursor(text, layout string, parts int) (at time.Time, key []byte, revision uint64, err error) {
	fields := strings.Split(text, "/")
	if len(fields) == parts {
		at, err = time.ParseInLocation(layout, fields[0], time.UTC)
		if err == nil {
			key, err = hex.DecodeString(fields[1])
		}
		if err == nil && parts == 3 {
			revision, err = strconv.ParseUint(fields[2], 10, 64)
		}
		if err == nil && len(key) == len(prescient.Key{}) && !at.Before(prescient.EarliestDue) {
			return at, key, revision, nil
		}
	}
	return at, nil, 0, fmt.Errorf("%w: cursor %q is no cursor; give that of the last row of the page before", prescient.ErrInvalid, text)
}
