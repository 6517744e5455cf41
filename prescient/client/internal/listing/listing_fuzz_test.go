package listing

import (
	"errors"
	"testing"
	"time"

	"prescient/prescient"
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
