package slogged

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// kept is a handler that keeps what it gets.
type kept struct {
	level   slog.Leveler
	records []slog.Record
	err     error
}

func (k *kept) Enabled(_ context.Context, level slog.Level) bool { return level >= k.level.Level() }
func (k *kept) Handle(_ context.Context, record slog.Record) error {
	k.records = append(k.records, record)
	return k.err
}
func (k *kept) WithAttrs([]slog.Attr) slog.Handler { panic("nobody calls it") }
func (k *kept) WithGroup(string) slog.Handler      { panic("nobody calls it") }

// everything is below each level.
const everything = slog.Level(-100)

func TestALineHasItsLevel(t *testing.T) {
	for level, want := range map[zerolog.Level]slog.Level{
		zerolog.TraceLevel: slog.LevelDebug - 4, zerolog.DebugLevel: slog.LevelDebug, zerolog.InfoLevel: slog.LevelInfo, zerolog.WarnLevel: slog.LevelWarn,
		zerolog.ErrorLevel: slog.LevelError, zerolog.FatalLevel: slog.LevelError + 4, zerolog.PanicLevel: slog.LevelError + 8, zerolog.NoLevel: slog.LevelInfo,
	} {
		to := &kept{level: everything}
		if _, err := (writer{to}).WriteLevel(level, []byte(`{"level":"any","message":"x"}`)); err != nil {
			t.Errorf("%s: %v", level, err)
		}
		if len(to.records) != 1 || to.records[0].Level != want || to.records[0].Message != "x" || to.records[0].NumAttrs() != 0 {
			t.Errorf("%s: %+v; want %s", level, to.records, want)
		}
	}
}

func TestFieldsComeInTheirOrderAsWhatTheyAre(t *testing.T) {
	var out bytes.Buffer
	plain := slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key == slog.TimeKey {
			return slog.Attr{}
		}
		return a
	}}))
	for _, test := range []struct {
		about string
		log   func(log zerolog.Logger)
		want  string
	}{
		{"nothing", func(log zerolog.Logger) { log.Info().Send() }, `"msg":""`},
		{"texts", func(log zerolog.Logger) { log.Info().Str("b", "ä\n\"<&>").Str("a", "").Msg("two\nlines") }, `"msg":"two\nlines","b":"ä\n\"<&>","a":""`},
		{"numbers", func(log zerolog.Logger) {
			log.Info().Int64("least", math.MinInt64).Uint64("most", math.MaxUint64).Int64("exact", 1<<53+1).Float64("half", 0.5).Msg("x")
		}, `"msg":"x","least":-9223372036854775808,"most":18446744073709551615,"exact":9007199254740993,"half":0.5`},
		{"truth, and nothing", func(log zerolog.Logger) { log.Info().Bool("is", true).Interface("none", nil).Msg("x") }, `"msg":"x","is":true,"none":null`},
		{"an error", func(log zerolog.Logger) { log.Info().Err(errors.New("broken")).Msg("x") }, `"msg":"x","error":"broken"`},
		{"an object", func(log zerolog.Logger) {
			log.Info().Dict("slot", zerolog.Dict().Int("b", 1).Dict("in", zerolog.Dict().Str("message", "m")).Int("a", 2)).Msg("x")
		}, `"msg":"x","slot":{"b":1,"in":{"message":"m"},"a":2}`},
		{"lists", func(log zerolog.Logger) { log.Info().Strs("names", []string{"a", "b"}).Ints("none", []int{}).Msg("x") }, `"msg":"x","names":["a","b"],"none":[]`},
		{"a time", func(log zerolog.Logger) {
			log.Info().Time("slot", time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)).Msg("x")
		}, `"msg":"x","slot":"2026-03-01T13:00:00Z"`},
		{"of the logger", func(log zerolog.Logger) {
			log = log.With().Str("worker", "a").Logger()
			log.Info().Int("n", 1).Msg("x")
		}, `"msg":"x","worker":"a","n":1`},
	} {
		out.Reset()
		test.log(New(plain))
		if got, want := strings.TrimSpace(out.String()), `{"level":"INFO",`+test.want+"}"; got != want {
			t.Errorf("%s: %s\nwant %s", test.about, got, want)
		}
	}
}

func TestALineHasTheTimeWhenItIsWritten(t *testing.T) {
	to := &kept{level: everything}
	log := New(slog.New(to))
	before := time.Now()
	log.Info().Msg("x")
	if at := to.records[0].Time; at.Before(before) || at.After(time.Now()) {
		t.Errorf("%s", at)
	}
	// One that zerolog was told to write is that time, and no field.
	record, err := recordOf(slog.LevelInfo, []byte(`{"time":"2026-03-01T13:00:00Z","a":1,"message":"x"}`), before)
	if err != nil || !record.Time.Equal(time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC)) || record.NumAttrs() != 1 {
		t.Errorf("%+v, %v", record, err)
	}
	record, err = recordOf(slog.LevelInfo, []byte(`{"time":"noon"}`), before)
	if err != nil || !record.Time.Equal(before) || record.NumAttrs() != 1 {
		t.Errorf("%+v, %v", record, err)
	}
}

// The level may change while a program runs.
func TestWhatIsNotEnabledIsNotMade(t *testing.T) {
	var level slog.LevelVar
	level.Set(slog.LevelWarn)
	to := &kept{level: &level}
	log := New(slog.New(to))
	if log.Info().Enabled() || !log.Warn().Enabled() {
		t.Error("info is enabled, or warn is not")
	}
	level.Set(slog.LevelDebug)
	log.Debug().Msg("now")
	if len(to.records) != 1 || to.records[0].Message != "now" {
		t.Errorf("%+v", to.records)
	}
	// Where zerolog does not sample the handler is still not given what it did not ask for.
	if n, err := (writer{to}).WriteLevel(zerolog.TraceLevel, []byte("{}")); n != 2 || err != nil || len(to.records) != 1 {
		t.Errorf("%d, %v, %+v", n, err, to.records)
	}
}

func TestWhatCannotBeWrittenIsAnError(t *testing.T) {
	full := errors.New("the disk is full")
	if _, err := (writer{&kept{level: everything, err: full}}).Write([]byte(`{"message":"x"}`)); !errors.Is(err, full) {
		t.Error(err)
	}
	for _, line := range []string{"", "text", "[]", "{", `{"a"`, `{"a":`, `{"a":[1`, `{"a":{`, `{"a":[}`, "\xd9\xd9\xf7"} {
		to := &kept{level: everything}
		if _, err := (writer{to}).Write([]byte(line)); err == nil || len(to.records) != 0 {
			t.Errorf("%q: %v, %+v", line, err, to.records)
		}
	}
}
