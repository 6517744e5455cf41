package output

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"prescient/cmd/internal/words"
	"prescient/config"
	"prescient/prescient"
)

func TestLogIsJSONWhereNobodyReads(t *testing.T) {
	for _, test := range []struct {
		log  config.Log
		want string // a piece of the line, or nothing
	}{
		{config.Log{Format: config.LogAuto}, `{"level":"info","n":3,"time":"2`},
		{config.Log{Format: config.LogJSON}, `"message":"slot run"}`},
		{config.Log{Format: config.LogConsole}, "Z INF slot run n=3\n"},
		{config.Log{Format: config.LogAuto, Level: zerolog.WarnLevel}, ""},
		{config.Log{Format: config.LogConsole, Level: zerolog.Disabled}, ""},
	} {
		var b bytes.Buffer
		log := NewLogger(&b, test.log, false)
		log.Info().Int("n", 3).Msg("slot run")
		if got := b.String(); !strings.Contains(got, test.want) || (got == "") != (test.want == "") || strings.Contains(got, "\x1b") {
			t.Errorf("%+v: %q; want %q", test.log, got, test.want)
		}
	}
	var b bytes.Buffer
	log := NewLogger(&b, config.Log{Format: config.LogConsole}, true)
	log.Error().Str("error", "\x1b[2J").Msg("slot run")
	if got := b.String(); !strings.Contains(got, "\x1b[") || strings.Contains(got, "\x1b[2J") {
		t.Errorf("%q", got)
	}
}

func TestWhatCannotBeSeenIsEscapedInTheLog(t *testing.T) {
	for _, format := range []string{config.LogJSON, config.LogConsole} {
		var b bytes.Buffer
		log := NewLogger(&b, config.Log{Format: format}, false)
		log.Info().Str("entity", "order/4\u200b2\ufe0f").Msg("slot\u2060run")
		if got := b.String(); strings.ContainsFunc(got, prescient.Unseen) || !strings.Contains(got, `4\u200b2\ufe0f`) || !strings.Contains(got, `slot\u2060run`) {
			t.Errorf("%s: %q", format, got)
		}
	}
}

func TestJSONIsEscapedAndStaysTheSame(t *testing.T) {
	const text = "\u00a0\ufe0f\U000e0041\x1b\u009b\u202e\u2028\x7f größer <b> 注文 \\u001b"
	var b bytes.Buffer
	if err := JSON(&b, map[string]any{"text": text, "raw": json.RawMessage("{\"a\": \"\u009b\"}")}); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(strings.TrimSuffix(b.String(), "\n"), words.Drives) || !strings.Contains(b.String(), "größer <b> 注文") {
		t.Errorf("%q", b.String())
	}
	var back struct {
		Text string
		Raw  struct{ A string }
	}
	if err := json.Unmarshal(b.Bytes(), &back); err != nil || back.Text != text || back.Raw.A != "\u009b" {
		t.Errorf("%+v, %v", back, err)
	}
}

func TestTable(t *testing.T) {
	var b bytes.Buffer
	columns := []Column{{Title: "name"}, {Title: "empty"}, {Title: "n", Right: true}}
	if err := Table(&b, columns, [][]string{{"größer", "", "1"}, {"b", "", "10"}}); err != nil {
		t.Fatal(err)
	}
	if want := "name     n\ngrößer   1\nb       10\n"; b.String() != want {
		t.Errorf("got\n%swant\n%s", b.String(), want)
	}
}

func TestALongTextHasWhatATerminalLeaves(t *testing.T) {
	columns := []Column{{Title: "ended"}, {Title: "empty"}, {Title: "error", Long: true}}
	reason := strings.Repeat("x", 150)
	for width, want := range map[int]int{0: LongColumn, 60: LongColumn, 120: 120 - 1 - 3 - 3 - 5, 400: 150} {
		rows := [][]string{{"10:00", "", reason}, {"10:15", "", "short"}}
		shorten(columns, rows, notEmpty(columns, rows), width)
		if got := len([]rune(rows[0][2])); got != want || rows[1][2] != "short" {
			t.Errorf("%d: %d characters; want %d", width, got, want)
		}
	}
}
