package value

import (
	"math"
	"strings"
	"testing"
	"time"

	"prescient/slots"
)

func TestParseDuration(t *testing.T) {
	for _, test := range []struct {
		text string
		want time.Duration
	}{
		// Go's own
		{"0", 0},
		{"90s", 90 * time.Second},
		{"1h30m", 90 * time.Minute},
		{"1.5h", 90 * time.Minute},
		{"250ms", 250 * time.Millisecond},
		{"1µs", time.Microsecond},
		{"-5m", -5 * time.Minute},
		{"+5m", 5 * time.Minute},
		// days
		{"30d", 720 * time.Hour},
		{"90d", 2160 * time.Hour},
		{"1d12h", 36 * time.Hour},
		{"1d0.5h", 24*time.Hour + 30*time.Minute},
		{"0d", 0},
		{"007d", 168 * time.Hour},
		{"-1d12h", -36 * time.Hour},
		{"+2d", 48 * time.Hour},
		{"1d36h", 60 * time.Hour},
		// the ends
		{"106751d", 106751 * Day},
		{"106751d23h47m16.854775807s", math.MaxInt64},
		{"-106751d23h47m16.854775807s", -math.MaxInt64},
	} {
		got, err := ParseDuration(test.text)
		if got != test.want || err != nil {
			t.Errorf("%s is %s, %v; want %s", test.text, got, err, test.want)
		}
	}
	for _, text := range []string{
		"", "d", "5", "d5h", "1d5", "1d0", "1d ", " 1d", "1 d", "1D", "1dd", "1d1d", "1h1d", "1.5d", "1d-5h", "1d+5h", "--1d", "+-1d",
		"1w", "1month", "1_0d", "1e3d", "0x1d", "106752d", "106751d23h47m16.854775808s", "99999999999999999999d", "Infd", "día", "١d",
	} {
		got, err := ParseDuration(text)
		if err == nil || got != 0 || !strings.Contains(err.Error(), "is no duration; want one such as") {
			t.Errorf("%q is %s, %v; want an error", text, got, err)
		}
	}
}

func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"0", "90s", "1h30m", "30d", "1d12h", "-1d12h", "1.5h", "106751d23h47m16.854775807s", "1d-5h", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, err := ParseDuration(text)
		if err != nil {
			if strings.Contains(err.Error(), "\n") || got != 0 {
				t.Fatalf("%q: %s, %q", text, got, err)
			}
			return
		}
		if ours, err := time.ParseDuration(text); err == nil && ours != got {
			t.Fatalf("%q is %s, but %s to Go", text, got, ours)
		}
		if again, err := ParseDuration(got.String()); err != nil || again != got {
			t.Fatalf("%q is %s, which is read as %s, %v", text, got, again, err)
		}
		if written := slots.Short(got); got >= 0 {
			if again, err := ParseDuration(written); err != nil || again != got {
				t.Fatalf("%q is shown as %s, which is read as %s, %v", text, written, again, err)
			}
		}
	})
}
