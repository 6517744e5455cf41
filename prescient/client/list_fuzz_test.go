package client

import (
	"errors"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/connect"
	"prescient/prescient/internal/literal"
)

// A cursor that is taken is one that a row has.
func FuzzCursor(f *testing.F) {
	f.Add("2026-11-20 13:15:00/00112233445566778899AABBCCDDEEFF", false)
	f.Add("2026-11-20 13:15:00.000001/00112233445566778899AABBCCDDEEFF/42", true)
	f.Add("2026-11-20 13:15:00/00/1 OR 1=1", true)
	f.Add("", false)
	f.Fuzz(func(t *testing.T, text string, ended bool) {
		layout, parts := literal.SecondLayout, 2
		if ended {
			layout, parts = literal.MicroLayout, 3
		}
		at, key, _, err := parseCursor(text, layout, parts)
		switch {
		case err != nil && !errors.Is(err, prescient.ErrInvalid):
			t.Fatalf("%q: %v", text, err)
		case err == nil && (len(key) != len(prescient.Key{}) || at.Location() != time.UTC):
			t.Fatalf("%q: %v, %x", text, at, key)
		}
	})
}

// No DSN makes Open panic, or its error tell more than the driver's fixed words.
func FuzzOpen(f *testing.F) {
	for _, text := range []string{"u:p@tcp(h)/d", "/", "u:p@tcp(h:1)/d?strict=true", "u:p@x(h)/d?timeout=1s", "u@/d?charset=gbk&collation=gbk_chinese_ci", "?", "@(/"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, dsn string) {
		db, err := connect.Open(dsn, time.Minute)
		if err != nil {
			if !errors.Is(err, prescient.ErrInvalid) {
				t.Fatalf("%q: %v", dsn, err)
			}
			return
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
	})
}
