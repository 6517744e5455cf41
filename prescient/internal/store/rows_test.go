package store

import (
	"database/sql"
	"testing"
	"time"

	"prescient/prescient"
)

func TestColumnsAreRead(t *testing.T) {
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	const aTrace = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
	var text, name, trace, none string
	var payload []byte
	var n uint64
	var key, raw prescient.Key
	var at time.Time
	var maybe *time.Time
	var d time.Duration
	for _, c := range []struct {
		what   string
		column sql.Scanner
		value  any
		is     func() bool
		null   func() bool
	}{
		{"a text", OrZero(&text), []byte("a"), func() bool { return text == "a" }, func() bool { return text == "" }},
		{"a trace", Trace(&trace), []byte(aTrace), func() bool { return trace == aTrace }, func() bool { return trace == aTrace }},
		{"what is no trace", Trace(&none), []byte(aTrace[:53] + "\r\n"), func() bool { return none == "" }, func() bool { return none == "" }},
		{"a number", OrZero(&n), int64(7), func() bool { return n == 7 }, func() bool { return n == 0 }},
		{"a text in hexadecimal", Unhex(&name), []byte("C3A4"), func() bool { return name == "ä" }, func() bool { return name == "ä" }},
		{"bytes in hexadecimal", Unhex(&payload), []byte("00FF"), func() bool { return string(payload) == "\x00\xff" }, func() bool { return len(payload) == 2 }},
		{"a key", Key(&raw), []byte("0123456789abcdef"), func() bool { return raw == prescient.Key([]byte("0123456789abcdef")) }, func() bool { return raw[0] == '0' }},
		{"a key in hexadecimal", UnhexInto(key[:]), []byte("000102030405060708090A0B0C0D0E0F"), func() bool { return key[15] == 15 }, func() bool { return key[15] == 15 }},
		{"a time", At(&at), []byte("2026-11-20 12:00:00.000000"), func() bool { return at.Equal(noon) }, func() bool { return at.Equal(noon) }},
		{"a time that may be nil", AtOrNil(&maybe), []byte("2026-11-20 12:00:00"), func() bool { return maybe != nil && maybe.Equal(noon) }, func() bool { return maybe != nil }},
		{"seconds", Seconds(&d), int64(90), func() bool { return d == 90*time.Second }, func() bool { return d == 0 }},
		{"microseconds", Micros(&d), int64(90), func() bool { return d == 90*time.Microsecond }, func() bool { return d == 0 }},
	} {
		if err := c.column.Scan(c.value); err != nil || !c.is() {
			t.Errorf("%s: %v", c.what, err)
		}
		if err := c.column.Scan(nil); err != nil || !c.null() {
			t.Errorf("%s, NULL: %v", c.what, err)
		}
	}
	for _, wrong := range []sql.Scanner{Unhex(&name), UnhexInto(key[:]), At(&at), AtOrNil(&maybe)} {
		if err := wrong.Scan([]byte("x")); err == nil {
			t.Errorf("%T takes what it cannot read", wrong)
		}
	}
}
