package client

import (
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/literal"
	"prescient/prescient/internal/rig"
)

// readLiteral reads one string literal at the start of SQL text as a server does that knows no escapes, and returns
// what follows it.
func readLiteral(sql string) (value, rest string, err error) {
	if quoted, is := strings.CutPrefix(sql, "_utf8mb4 X'"); is {
		digits, rest, closed := strings.Cut(quoted, "'")
		raw, err := hex.DecodeString(digits)
		if !closed || err != nil {
			return "", "", errors.Join(errors.New("no hexadecimal literal"), err)
		}
		return string(raw), rest, nil
	}
	quoted, is := strings.CutPrefix(sql, "'")
	value, rest, closed := strings.Cut(quoted, "'")
	if !is || !closed || strings.HasPrefix(rest, "'") {
		return "", "", errors.New("no literal")
	}
	return value, rest, nil
}

func FuzzLiteralText(f *testing.F) {
	for _, text := range rig.Nasty() {
		f.Add(text, text)
	}
	f.Add("", "a")
	f.Add("\xff\xfe", "'")
	f.Fuzz(func(t *testing.T, a, b string) {
		built := string(literal.AppendText(append(literal.AppendText(nil, a), ','), b))
		for _, c := range []byte(built) {
			if c < 0x20 || c > 0x7e || c == '\\' {
				t.Fatalf("%q and %q became %q, which not every connection reads the same", a, b, built)
			}
		}
		gotA, rest, err := readLiteral(built)
		if err != nil || gotA != a || !strings.HasPrefix(rest, ",") {
			t.Fatalf("%q became %q: read as %q, %q, %v", a, built, gotA, rest, err)
		}
		gotB, rest, err := readLiteral(rest[1:])
		if err != nil || gotB != b || rest != "" {
			t.Fatalf("%q became %q: read as %q, %q, %v", b, built, gotB, rest, err)
		}
		if strings.HasPrefix(built, "''") {
			t.Fatalf("%q became %q, which is NULL to EMPTY_STRING_IS_NULL", a, built)
		}
		if orNull := literal.Of(literal.AppendTextOrNull, a); (orNull == "NULL") != (a == "") || a != "" && orNull != literal.Of(literal.AppendText, a) {
			t.Fatalf("%q or NULL became %q", a, orNull)
		}
	})
}

func TestLiteralsReadTheSameUnderEverySQLMode(t *testing.T) {
	for _, tt := range []struct{ got, want string }{
		{literal.Of(literal.AppendText, ""), "_utf8mb4 X''"},
		{literal.Of(literal.AppendText, "plain text, 42!"), "'plain text, 42!'"},
		{literal.Of(literal.AppendText, "it's"), "_utf8mb4 X'69742773'"},
		{literal.Of(literal.AppendText, `\`), "_utf8mb4 X'5c'"},
		{literal.Of(literal.AppendText, "é"), "_utf8mb4 X'c3a9'"},
		{literal.Of(literal.AppendText, "\x7f"), "_utf8mb4 X'7f'"},
		{literal.Of(literal.AppendTextOrNull, ""), "NULL"},
		{literal.Of(literal.AppendJSON, ""), "NULL"},
		{literal.Of(literal.AppendJSON, `["plain"]`), `'["plain"]'`},
		{literal.Of(literal.AppendJSON, `["it's"]`), "CONVERT(X'5b2269742773225d' USING utf8mb4)"},
		{literal.Of(literal.AppendKey, prescient.Key{0: 0xab, 15: 1}), "X'ab000000000000000000000000000001'"},
		{literal.Of(literal.AppendSecond, rig.At("13:15").In(time.FixedZone("", 3600))), "'2026-11-20 13:15:00'"},
		{literal.Of(literal.AppendMicro, rig.At("13:15:00.000001").In(time.FixedZone("", -3600))), "'2026-11-20 13:15:00.000001'"},
		{literal.Of(literal.AppendNumber, rig.At("13:15").In(time.FixedZone("", -3600))), "20261120131500"},
		{literal.Of(literal.AppendUint, 1<<64-1), "18446744073709551615"},
		{literal.Of(literal.AppendInt, -1), "-1"},
		{literal.KeysOf([]prescient.Key{{}, {15: 255}}), "X'00000000000000000000000000000000',X'000000000000000000000000000000ff'"},
		{literal.KeysOf(nil), ""},
	} {
		if tt.got != tt.want {
			t.Errorf("%s; want %s", tt.got, tt.want)
		}
	}
}

func TestRunTimesAreStoredInWholeMilliseconds(t *testing.T) {
	for d, want := range map[time.Duration]int64{
		-time.Second: 0, 0: 0, 499 * time.Microsecond: 0, 500 * time.Microsecond: 1, time.Second: 1000,
		math.MaxInt64: math.MaxUint32, 1000 * time.Hour: 3600_000_000, math.MinInt64: 0,
	} {
		if got := literal.Millis(d); got != want {
			t.Errorf("millis(%s) = %d; want %d", d, got, want)
		}
	}
}
