package look

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

func TestWordsForNumbersAndTimes(t *testing.T) {
	now := time.Date(2026, 11, 20, 13, 15, 0, 0, time.UTC)
	for got, want := range map[string]string{
		Number(0): "0", Number(999): "999", Number(1000): "1,000", Number(-1234567): "-1,234,567",
		Share(0.125): "12.5 %", Share(1): "100 %",
		Duration(0): "0 ms", Duration(300 * time.Microsecond): "under 1 ms", Duration(850 * time.Millisecond): "850 ms", Duration(1250 * time.Millisecond): "1.2 s", Duration(59_990 * time.Millisecond): "59.9 s",
		Duration(200 * time.Second): "3 min 20 s", Duration(2*time.Hour + 5*time.Minute + 9*time.Second): "2 h 5 min", Duration(76 * time.Hour): "3 d 4 h", Duration(-90 * time.Second): "-1 min 30 s",
		Relative(now.Add(5*time.Minute), now): "in 5 min", Relative(now.Add(-26*time.Hour), now): "1 d 2 h ago", Relative(now, now): "now",
		Stamp(now.In(time.FixedZone("x", 3600))): "2026-11-20 13:15:00 UTC",
		Counted(1, "check", "checks"):            "1 check", Counted(2000, "check", "checks"): "2,000 checks",
	} {
		if got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
	if got := string(Time(now)); got != `<time datetime="2026-11-20T13:15:00Z">2026-11-20 13:15:00 UTC</time>` {
		t.Error(got)
	}
	for _, none := range []any{nil, (*time.Time)(nil), time.Time{}} {
		if got := Time(none); got != dash {
			t.Errorf("%v: %s", none, got)
		}
	}
}

func TestWhatCannotBeSeenIsShown(t *testing.T) {
	for text, want := range map[string]string{
		"order-unshipped":     "<bdi>order-unshipped</bdi>",
		"<script>'\"&":        "<bdi>&lt;script&gt;&#39;&#34;&amp;</bdi>",
		"a\u202eb":            `<bdi>a<span class="unseen">U+202E</span>b</bdi>`,
		"a\nb\x00\x1b":        `<bdi>a<span class="unseen">\n</span>b<span class="unseen">U+0000</span><span class="unseen">U+001B</span></bdi>`,
		"𝄞\U000E0041ä":        `<bdi>𝄞<span class="unseen">U+E0041</span>ä</bdi>`,
		"a\xffb":              `<bdi>a<span class="unseen">U+FFFD</span>b</bdi>`,
		"a\uFFFDb":            `<bdi>a<span class="unseen">U+FFFD</span>b</bdi>`,
		"no\u00a0break\u200b": `<bdi>no<span class="unseen">U+00A0</span>break<span class="unseen">U+200B</span></bdi>`,
	} {
		if got := string(Seen(text)); got != want {
			t.Errorf("%q: %s; want %s", text, got, want)
		}
	}
	if got := Clip(4, "𝄞𝄞𝄞𝄞𝄞"); got != "𝄞𝄞𝄞…" {
		t.Error(got)
	}
}

func TestAPayloadIsShownByLines(t *testing.T) {
	for raw, want := range map[string]string{
		`{"a":[1,"</script>"]}`: "{\n  \"a\": [\n    1,\n    \"</script>\"\n  ]\n}", `{"a"`: `{"a"`, "\"\u202e\x07\"": `"\u{202e}\u{7}"`, "": "",
	} {
		if got, whole := Lines(100, json.RawMessage(raw)); got != want || !whole {
			t.Errorf("%q: %q, %t", raw, got, whole)
		}
	}
	if got, whole := Lines(5, json.RawMessage(`"`+strings.Repeat("ä", 50)+`"`)); whole || got != `"ää` {
		t.Errorf("%q, %t", got, whole)
	}
}

func TestSpansAreReadAsTheyAreWritten(t *testing.T) {
	for text, want := range map[string]string{"": "", "90s": "1m30s", "1h30m": "1h30m", "2d": "2d", "36h": "1d12h", "1 h 30 min": "1h30m", "2d3h0m5s": "2d3h0m5s", "0s": "", "1H": "1h", "120h": "5d"} {
		ms, err := ReadSpan("x", text)
		if err != nil || Span(ms) != want {
			t.Errorf("%q: %q, %v; want %q", text, Span(ms), err, want)
		}
	}
	for _, text := range []string{"soon", "-1h", "1", "5d5", "d", "4001d", "99999999h", "1e9h", "+1d", "1d-3h"} {
		if ms, err := ReadSpan("x", text); err == nil {
			t.Errorf("%q: %d", text, ms)
		}
	}
}
