package checks

import (
	"testing"
	"time"
)

func TestParseClock(t *testing.T) {
	now := time.Date(2026, 3, 1, 23, 30, 0, 0, time.FixedZone("", -5*3600)) // 2026-03-02 04:30 UTC
	for text, want := range map[string]string{"13:05": "2026-03-02T13:05:00Z", " 00:00:01": "2026-03-02T00:00:01Z", "24:00": "", "1305": ""} {
		got, ok := parseClock(text, now)
		if ok != (want != "") || ok && got.Format(time.RFC3339) != want {
			t.Errorf("%q: %s, %t; want %s", text, got, ok, want)
		}
	}
}
