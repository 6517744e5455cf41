package schedule

import (
	"bytes"
	"context"
	"crypto/sha256"
	"database/sql"
	"strings"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/store"
	"prescient/prescient/schedule/internal/occurrences"
)

// idsPerStatement is how many schedules a statement names at most.
const idsPerStatement = 500

// idList is a list for IN (…).
func idList(ids []string) string { return literal.List(literal.AppendText, ids) }

// byID are schedules by their ids.
func byID(some []Stored) map[string]Stored {
	by := make(map[string]Stored, len(some))
	for _, one := range some {
		by[one.ID] = one
	}
	return by
}

// idsOf are the ids of some schedules, in their order.
func idsOf[T any](some []T, id func(T) string) []string {
	ids := make([]string, len(some))
	for i, one := range some {
		ids[i] = id(one)
	}
	return ids
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
		text(strings.Join(s.Crontabs, "\n")), text(s.Zone), literal.Of(literal.AppendBytesOrNull, s.Payload), text(s.JobExec), text(s.Topic),
		text(s.Owner.Name), text(s.Owner.Key), text(string(s.CatchUp)), literal.Of(appendSeconds, s.CatchUpWithin),
		literal.Of(appendSeconds, s.ExpiresAfter), literal.Of(appendSeconds, s.Jitter), literal.Of(appendBool, s.MayCoalesce),
		literal.Of(appendBool, s.Long), literal.Of(literal.AppendTextOrNull, string(s.Overlap)), literal.Of(appendSeconds, s.Tolerance),
		literal.Of(appendQuota, s.Quota), text(s.Pool), text(s.Heartbeat),
	}
}

// appendQuota appends a quota in seconds, 0 for NoQuota, NULL for the default.
func appendQuota(b []byte, d time.Duration) []byte {
	if d == NoQuota {
		return append(b, '0')
	}
	return appendSeconds(b, d)
}

// quota is a column that appendQuota wrote.
type quota struct{ into *time.Duration }

// Scan implements sql.Scanner.
func (q quota) Scan(value any) error {
	err := store.Seconds(q.into).Scan(value)
	if value != nil && *q.into == 0 {
		*q.into = NoQuota
	}
	return err
}

func appendAhead(b []byte, kept occurrences.Ahead) []byte {
	if !kept.Valid {
		return append(b, "NULL"...)
	}
	return literal.AppendInt(b, kept.Int64)
}

// appendRow appends (…) for schedule/insert and schedule/replace.
func (s *Schedules) appendRow(b []byte, one Schedule, enabled bool, created time.Time, ahead occurrences.Ahead) []byte {
	b = literal.AppendText(append(b, '('), one.ID)
	for _, value := range columns(one) {
		b = append(append(b, ','), value...)
	}
	b = append(appendBool(append(b, ",1,"...), enabled), ',')
	b = append(literal.AppendMicro(b, created), ',')
	return append(s.tables.AppendPlace(appendAhead(b, ahead), one.ID), ')')
}

// find reads schedules by their ids, in the order of these, and leaves out those that are not there.
func (s *Schedules) find(ctx context.Context, db prescient.DB, ids []string, payload payloads, lock string) ([]Stored, error) {
	return s.read(ctx, db, s.tables.Fill("schedule/find", "{payload}", string(payload), "{ids}", idList(ids), "{places}", s.tables.Places(ids...), "{lock}", lock))
}

// read runs a query for schedules.
func (s *Schedules) read(ctx context.Context, db prescient.DB, query string) ([]Stored, error) {
	return store.Rows(ctx, db, "reading schedules", query, (*Stored).into)
}

// into is where the columns of a row go.
func (s *Stored) into() []any {
	return []any{store.Unhex(&s.ID), lines(&s.Crontabs), store.OrZero(&s.Zone), &s.Payload, store.OrZero(&s.size), store.OrZero(&s.JobExec), store.OrZero(&s.Topic),
		store.OrZero(&s.Owner.Name), store.Unhex(&s.Owner.Key), store.OrZero(&s.CatchUp), store.Seconds(&s.CatchUpWithin), store.Seconds(&s.ExpiresAfter),
		store.Seconds(&s.Jitter), &s.MayCoalesce, &s.Version, &s.Enabled, store.At(&s.DisabledAt), store.Unhex(&s.DisabledReason), &s.PassedOver, &s.caught,
		store.At(&s.CreatedAt), store.At(&s.UpdatedAt), &s.Long, store.OrZero(&s.Overlap), store.Seconds(&s.Tolerance), quota{&s.Quota}, &s.Pool,
		store.At(&s.LastStartedAt), &s.kept, store.OrZero(&s.Heartbeat)}
}

// lines is a column of crontabs.
func lines(into *[]string) sql.Scanner {
	return store.Text(func(text string) error {
		*into = strings.Split(text, "\n")
		return nil
	})
}

// Payloads may have a megabyte each. Where some hundreds of schedules are read, only the short ones come along; of long ones some at a
// time, or, where they are only compared, their hashes.

const (
	// MaxShort is how many bytes a short payload has at most. Of 500 they are 2 MB.
	MaxShort = 4 << 10
	// maxHeld is how many bytes the long payloads have together that are in memory at a time, and in one answer: Vitess passes on none of 16 MB.
	maxHeld = 12 << 20
	// maxPageBytes is how many bytes the long payloads of a page of a listing have together.
	maxPageBytes = 64 << 20
)

// payloads says what is read of payloads: the bytes, and how many there are.
type payloads string

const (
	noPayload    payloads = "NULL, NULL"
	withPayload  payloads = "payload, LENGTH(payload)"
	shortPayload payloads = "IF(LENGTH(payload) > 4096, NULL, payload), LENGTH(payload)"
	// toCompare has the SHA-256 of long ones.
	toCompare payloads = "IF(LENGTH(payload) > 4096, UNHEX(SHA2(payload, 256)), payload), LENGTH(payload)"
)

// same says whether a schedule, which may have been read by toCompare, has a definition.
func (s Stored) same(as Schedule) bool {
	if s.size > MaxShort && len(s.Payload) != s.size {
		if hash := sha256.Sum256(as.Payload); len(as.Payload) != s.size || !bytes.Equal(hash[:], s.Payload) {
			return false
		}
		s.Payload, as.Payload = nil, nil
	}
	return s.Schedule.same(as)
}

// hasLong says whether a schedule has a long payload, which is not read yet.
func (s Stored) hasLong() bool { return s.size > MaxShort && s.Payload == nil }
