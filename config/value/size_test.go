package value

import (
	"strings"
	"testing"
)

func TestASizeIsBytesOrHasAUnit(t *testing.T) {
	for text, want := range map[string]int64{"512MiB": 512 << 20, "2GiB": 2 << 30, "16777216": 16 << 20, "20000 KiB": 20000 << 10, "1TiB": 1 << 40, "0": -1, "0GiB": -1} {
		var got int64
		if err := Size(&got, 16<<20, -1)(text); err != nil || got != want {
			t.Errorf("%s: %d, %v; want %d", text, got, err, want)
		}
	}
	for text, says := range map[string]string{"": "is no size", "2 G": "is no size", "-1": "is no size", "1.5GiB": "is no size", "2gib": "is no size", "15MiB": "15MiB: at least 16MiB are allowed",
		"9223372036854775807GiB": ": at least 16MiB are allowed", "99999999999999999999": "is no size"} {
		got := int64(7)
		if err := Size(&got, 16<<20, -1)(text); err == nil || !strings.Contains(err.Error(), says) || got != 7 {
			t.Errorf("%q: %d, %v; want %q", text, got, err, says)
		}
	}
}
