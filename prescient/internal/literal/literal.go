package literal

import (
	"encoding/hex"
	"iter"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"prescient/prescient"
)

// SQL literals. Long statements are built as text: one round trip without a prepare. What is built here reads the
// same under every sql_mode and connection character set, since nothing is ever escaped: text that is not plain goes
// over in hexadecimal.

const (
	SecondLayout = "2006-01-02 15:04:05"
	MicroLayout  = "2006-01-02 15:04:05.000000"
)

// AppendText appends a string literal. MariaDB's EMPTY_STRING_IS_NULL makes NULL of a plain empty one, but not of one in
// hexadecimal.
func AppendText(b []byte, s string) []byte {
	if s == "" {
		return append(b, "_utf8mb4 X''"...)
	}
	if !plain(s) {
		b = append(b, "_utf8mb4 X'"...)
		b = hex.AppendEncode(b, []byte(s))
		return append(b, '\'')
	}
	b = append(b, '\'')
	b = append(b, s...)
	return append(b, '\'')
}

// plain says whether a text reads the same between quotes everywhere.
func plain(s string) bool {
	for i := range len(s) {
		if c := s[i]; c < 0x20 || c >= utf8.RuneSelf-1 || c == '\'' || c == '\\' {
			return false
		}
	}
	return true
}

// AppendJSON appends a value for a JSON column, NULL for none. TiDB takes a text in hexadecimal for bytes there, and
// refuses those, unless they are converted; the others make no difference. Columns must not be compared with it: it has a
// collation like theirs, which a literal gives up.
func AppendJSON(b []byte, s string) []byte {
	switch {
	case s == "":
		return append(b, "NULL"...)
	case plain(s):
		return AppendText(b, s)
	}
	b = append(b, "CONVERT(X'"...)
	b = hex.AppendEncode(b, []byte(s))
	return append(b, "' USING utf8mb4)"...)
}

// AppendTextOrNull appends NULL for the empty string.
func AppendTextOrNull(b []byte, s string) []byte {
	if s == "" {
		return append(b, "NULL"...)
	}
	return AppendText(b, s)
}

// AppendBytes appends bytes in hexadecimal.
func AppendBytes(b, value []byte) []byte {
	b = append(b, "X'"...)
	b = hex.AppendEncode(b, value)
	return append(b, '\'')
}

// AppendBytesOrNull appends NULL for nil.
func AppendBytesOrNull(b, value []byte) []byte {
	if value == nil {
		return append(b, "NULL"...)
	}
	return AppendBytes(b, value)
}

// AppendKey appends a job_key.
func AppendKey(b []byte, k prescient.Key) []byte { return AppendBytes(b, k[:]) }

// AppendPlace appends a place.
func AppendPlace(b []byte, p prescient.KeyspaceID) []byte { return AppendBytes(b, p[:]) }

// AppendSecond appends a time on the grid.
func AppendSecond(b []byte, t time.Time) []byte {
	return append(appendDateTime(append(b, '\''), t.UTC()), '\'')
}

// AppendMicro appends a time in microseconds; what is below one is cut off.
func AppendMicro(b []byte, t time.Time) []byte {
	t = t.UTC()
	b = append(appendDateTime(append(b, '\''), t), '.')
	return append(appendDigits(b, t.Nanosecond()/1000, 6), '\'')
}

// AppendMicroOrNull appends NULL for no time.
func AppendMicroOrNull(b []byte, t *time.Time) []byte {
	if t == nil {
		return append(b, "NULL"...)
	}
	return AppendMicro(b, *t)
}

// AppendNumber appends a time in whole seconds as a number, which servers also take for a DATETIME.
func AppendNumber(b []byte, t time.Time) []byte { return t.UTC().AppendFormat(b, "20060102150405") }

// appendDateTime is AppendFormat with SecondLayout, without reading a layout for each of thousands of times.
func appendDateTime(b []byte, t time.Time) []byte {
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, SecondLayout)
	}
	hour, minute, second := t.Clock()
	b = append(appendDigits(b, year, 4), '-')
	b = append(appendDigits(b, int(month), 2), '-')
	b = append(appendDigits(b, day, 2), ' ')
	b = append(appendDigits(b, hour, 2), ':')
	b = append(appendDigits(b, minute, 2), ':')
	return appendDigits(b, second, 2)
}

func appendDigits(b []byte, n, digits int) []byte {
	b = append(b, "000000"[:digits]...)
	for i := len(b) - 1; n > 0; i-- {
		b[i] = byte('0' + n%10)
		n /= 10
	}
	return b
}

// AppendUint appends a number.
func AppendUint(b []byte, n uint64) []byte { return strconv.AppendUint(b, n, 10) }

// AppendInt appends a number that may be negative.
func AppendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// Of returns what one of the append functions appends, as a string.
func Of[T any](appendTo func([]byte, T) []byte, v T) string { return string(appendTo(nil, v)) }

// List returns what one of the append functions appends for each item, as a list for IN (…).
func List[T any](appendTo func([]byte, T) []byte, items []T) string {
	return Join(",", appendTo, items)
}

// Join is List with other words between the items.
func Join[T any](between string, appendTo func([]byte, T) []byte, items []T) string {
	var b []byte
	for i, item := range items {
		if i > 0 {
			b = append(b, between...)
		}
		b = appendTo(b, item)
	}
	return string(b)
}

// Bulks are lists of as many items as make a statement of about BulkBytes, and how many these are.
func Bulks[T any](appendTo func([]byte, T) []byte, items []T) iter.Seq2[string, int] {
	return func(yield func(list string, n int) bool) {
		var b []byte
		n := 0
		for i, item := range items {
			if n > 0 {
				b = append(b, ',')
			}
			b, n = appendTo(b, item), n+1
			if i < len(items)-1 && len(b) < BulkBytes {
				continue
			}
			if !yield(string(b), n) {
				return
			}
			b, n = b[:0], 0
		}
	}
}

// Keys returns the keys as literals for IN (…): slot runs have thousands.
func Keys[T any](items []T, key func(T) prescient.Key) string {
	b := make([]byte, 0, len(items)*36)
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = AppendKey(b, key(item))
	}
	return string(b)
}

// KeysOf are keys as a list for IN (...).
func KeysOf(keys []prescient.Key) string {
	return Keys(keys, func(k prescient.Key) prescient.Key { return k })
}

// Millis is a duration as the tables hold it: whole milliseconds, rounded, never negative, within INT UNSIGNED.
func Millis(d time.Duration) int64 {
	return min(max(d.Round(time.Millisecond).Milliseconds(), 0), math.MaxUint32)
}

// BulkBytes bounds a long statement, well under the smallest max_allowed_packet in use.
const BulkBytes = 1 << 20
