package schedule

import (
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/longrun"
)

// idsPerStatement is how many schedules a statement names at most.
const idsPerStatement = 500

// idList is a list for IN (…).
func idList(ids []string) string { return literal.List(literal.AppendText, ids) }

// idsOf are the ids of some schedules, in their order.
func idsOf[T any](some []T, id func(T) string) []string {
	ids := make([]string, len(some))
	for i, one := range some {
		ids[i] = id(one)
	}
	return ids
}

// inBulk calls send with the rows of as many as make a statement no larger than literal.BulkBytes, and how many these are, until all
// are sent. It ends with the first error.
func inBulk[T any](some []T, appendRow func([]byte, T) []byte, send func(rows string, n int) error) error {
	var rows []byte
	n := 0
	for i, one := range some {
		if n > 0 {
			rows = append(rows, ',')
		}
		rows, n = appendRow(rows, one), n+1
		if i < len(some)-1 && len(rows) < literal.BulkBytes {
			continue
		}
		if err := send(string(rows), n); err != nil {
			return err
		}
		rows, n = rows[:0], 0
	}
	return nil
}

// appendBytes appends what a binary column takes, NULL for nil.
func appendBytes(b, value []byte) []byte {
	if value == nil {
		return append(b, "NULL"...)
	}
	return append(hex.AppendEncode(append(b, "X'"...), value), '\'')
}

// appendSeconds appends a duration in whole seconds, NULL for none.
func appendSeconds(b []byte, d time.Duration) []byte {
	if d == 0 {
		return append(b, "NULL"...)
	}
	return literal.AppendInt(b, int64(d/time.Second))
}

func appendBool(b []byte, is bool) []byte {
	if is {
		return append(b, '1')
	}
	return append(b, '0')
}

// columns are what a definition is stored as, in the order of schedule/insert.
func columns(s Schedule) []string {
	s = s.withDefaults()
	text := func(value string) string { return literal.Of(literal.AppendText, value) }
	return []string{
		text(strings.Join(s.Crontabs, "\n")), text(s.Zone), literal.Of(appendBytes, s.Payload), text(s.JobExec), text(s.Topic),
		text(s.Owner.Name), text(s.Owner.Key), text(string(s.CatchUp)), literal.Of(appendSeconds, s.CatchUpWithin),
		literal.Of(appendSeconds, s.ExpiresAfter), literal.Of(appendSeconds, s.Jitter), literal.Of(appendBool, s.MayCoalesce),
		literal.Of(appendBool, s.Long), literal.Of(literal.AppendTextOrNull, string(s.Overlap)), literal.Of(appendSeconds, s.Tolerance),
		literal.Of(appendQuota, s.Quota), text(s.Pool),
	}
}

// appendQuota appends a quota in seconds, 0 for NoQuota, NULL for the default.
func appendQuota(b []byte, d time.Duration) []byte {
	if d == NoQuota {
		return append(b, '0')
	}
	return appendSeconds(b, d)
}

// quotaOf reads what appendQuota wrote.
func quotaOf(seconds sql.NullInt64) time.Duration {
	if seconds.Valid && seconds.Int64 == 0 {
		return NoQuota
	}
	return time.Duration(seconds.Int64) * time.Second
}

// appendRow appends (…) for schedule/insert and schedule/replace.
func appendRow(b []byte, s Schedule, enabled bool, created time.Time, kept ahead) []byte {
	b = literal.AppendText(append(b, '('), s.ID)
	for _, value := range columns(s) {
		b = append(append(b, ','), value...)
	}
	b = append(appendBool(append(b, ",1,"...), enabled), ',')
	b = append(literal.AppendMicro(b, created), ',')
	return append(appendAhead(b, kept), ')')
}

// find reads schedules by their ids, in the order of these, and leaves out those that are not there.
func (s *Schedules) find(ctx context.Context, db prescient.DB, ids []string, payload payloads, lock bool) ([]Stored, error) {
	forUpdate := ""
	if lock {
		forUpdate = "FOR UPDATE"
	}
	return s.read(ctx, db, s.tables.Fill("schedule/find", "{payload}", string(payload), "{ids}", idList(ids), "{lock}", forUpdate))
}

// read runs a query for schedules.
func (s *Schedules) read(ctx context.Context, db prescient.DB, query string) (found []Stored, err error) {
	rows, err := db.QueryContext(ctx, query)
	if err != nil {
		return nil, fmt.Errorf("reading schedules: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		one, err := scan(rows)
		if err != nil {
			return nil, fmt.Errorf("reading schedules: %w", err)
		}
		found = append(found, one)
	}
	return found, rows.Err()
}

func scan(rows *sql.Rows) (one Stored, err error) {
	var id, crontabs, zone, jobExec, topic, ownerName, ownerKey, catchUp, disabledAt, reason, created, updated, overlap, lastStarted sql.NullString
	var payload []byte
	var size, within, expires, jitter, tolerance, quota sql.NullInt64
	if err := rows.Scan(&id, &crontabs, &zone, &payload, &size, &jobExec, &topic, &ownerName, &ownerKey, &catchUp, &within, &expires,
		&jitter, &one.MayCoalesce, &one.Version, &one.Enabled, &disabledAt, &reason, &one.PassedOver, &one.caught, &created, &updated,
		&one.Long, &overlap, &tolerance, &quota, &one.Pool, &lastStarted, &one.kept); err != nil {
		return one, err
	}
	var errs []error
	unhex := func(s sql.NullString) string {
		plain, err := hex.DecodeString(s.String)
		errs = append(errs, err)
		return string(plain)
	}
	at := func(s sql.NullString) (t time.Time) {
		if s.Valid {
			var err error
			t, err = store.ParseTime(s.String)
			errs = append(errs, err)
		}
		return t
	}
	seconds := func(n sql.NullInt64) time.Duration { return time.Duration(n.Int64) * time.Second }
	one.ID, one.Owner = unhex(id), prescient.Entity{Name: ownerName.String, Key: unhex(ownerKey)}
	one.Crontabs, one.Zone, one.Payload, one.size = strings.Split(crontabs.String, "\n"), zone.String, payload, int(size.Int64)
	one.JobExec, one.Topic, one.CatchUp = jobExec.String, topic.String, CatchUp(catchUp.String)
	one.CatchUpWithin, one.ExpiresAfter, one.Jitter = seconds(within), seconds(expires), seconds(jitter)
	one.DisabledAt, one.DisabledReason = at(disabledAt), unhex(reason)
	one.CreatedAt, one.UpdatedAt, one.LastStartedAt = at(created), at(updated), at(lastStarted)
	one.Overlap, one.Tolerance, one.Quota = longrun.Overlap(overlap.String), seconds(tolerance), quotaOf(quota)
	return one, errors.Join(errs...)
}
