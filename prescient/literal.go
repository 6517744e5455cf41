package prescient

import (
	"encoding/hex"
	"strconv"
	"time"
	"unicode/utf8"
)

// SQL literals. Long statements are built as text: one round trip without a prepare. What is built here reads the
// same under every sql_mode and connection character set, since nothing is ever escaped: text that is not plain goes
// over in hexadecimal.

const (
	secondLayout = "2006-01-02 15:04:05"
	microLayout  = "2006-01-02 15:04:05.000000"
)

// appendText appends a string literal. MariaDB's EMPTY_STRING_IS_NULL makes NULL of a plain empty one, but not of one in
// hexadecimal.
func appendText(b []byte, s string) []byte {
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

// appendJSON appends a value for a JSON column, NULL for none. TiDB takes a text in hexadecimal for bytes there, and
// refuses those, unless they are converted; the others make no difference. Columns must not be compared with it: it has a
// collation like theirs, which a literal gives up.
func appendJSON(b []byte, s string) []byte {
	switch {
	case s == "":
		return append(b, "NULL"...)
	case plain(s):
		return appendText(b, s)
	}
	b = append(b, "CONVERT(X'"...)
	b = hex.AppendEncode(b, []byte(s))
	return append(b, "' USING utf8mb4)"...)
}

// appendTextOrNull appends NULL for the empty string.
func appendTextOrNull(b []byte, s string) []byte {
	if s == "" {
		return append(b, "NULL"...)
	}
	return appendText(b, s)
}

func appendKey(b []byte, k Key) []byte {
	b = append(b, "X'"...)
	b = hex.AppendEncode(b, k[:])
	return append(b, '\'')
}

// appendSecond appends a time on the grid, appendMicro one in microseconds (see roundUp).
func appendSecond(b []byte, t time.Time) []byte {
	return append(appendDateTime(append(b, '\''), t.UTC()), '\'')
}

func appendMicro(b []byte, t time.Time) []byte {
	t = t.UTC()
	b = append(appendDateTime(append(b, '\''), t), '.')
	return append(appendDigits(b, t.Nanosecond()/1000, 6), '\'')
}

// appendNumber appends a time in whole seconds as a number, which servers also take for a DATETIME.
func appendNumber(b []byte, t time.Time) []byte { return t.UTC().AppendFormat(b, "20060102150405") }

// appendDateTime is AppendFormat with secondLayout, without reading a layout for each of thousands of times.
func appendDateTime(b []byte, t time.Time) []byte {
	year, month, day := t.Date()
	if year < 0 || year > 9999 {
		return t.AppendFormat(b, secondLayout)
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

func appendUint(b []byte, n uint64) []byte { return strconv.AppendUint(b, n, 10) }

func appendInt(b []byte, n int64) []byte { return strconv.AppendInt(b, n, 10) }

// literal returns what one of the append functions appends, as a string.
func literal[T any](appendTo func([]byte, T) []byte, v T) string { return string(appendTo(nil, v)) }

// keyList returns the keys as literals for IN (…).
func keyList[T any](items []T, key func(T) Key) string {
	b := make([]byte, 0, len(items)*36)
	for i, item := range items {
		if i > 0 {
			b = append(b, ',')
		}
		b = appendKey(b, key(item))
	}
	return string(b)
}
