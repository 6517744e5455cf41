package input_test

import (
	"bufio"
	"bytes"
	"strings"
	"testing"
	"unicode/utf16"

	"prescient/cmd/internal/input"
)

func TestAFileThatIsNoUTF8SaysWhatItIs(t *testing.T) {
	const lines = "{\"a\": \"ä\"}\n{\"b\": 1}\n"
	sixteen := func(mark bool, high int) string {
		var b bytes.Buffer
		text := utf16.Encode([]rune(lines))
		if mark {
			text = append([]uint16{0xfeff}, text...)
		}
		for _, unit := range text {
			pair := [2]byte{byte(unit >> 8), byte(unit)}
			b.Write([]byte{pair[high], pair[1-high]})
		}
		return b.String()
	}
	for text, want := range map[string]string{
		lines: "", "": "", "\n": "", "a": "", "a\r": "", "a\r\nb\r\n": "", "\ufeffa\n": "", "a\nb\rc": "",
		sixteen(true, 0):                "it is UTF-16; want UTF-8",
		sixteen(true, 1):                "it is UTF-16; want UTF-8",
		sixteen(false, 0):               "it is UTF-16; want UTF-8",
		sixteen(false, 1):               "it is UTF-16; want UTF-8",
		"\xff\xfe\x00\x00{\x00\x00\x00": "it is UTF-32; want UTF-8",
		"\x1f\x8b\x08\x00":              "zcat",
		"PK\x03\x04":                    "spreadsheets",
		"a\rb\r":                        "CR alone",
		"a\rb\n":                        "CR alone",
	} {
		from := bufio.NewReader(strings.NewReader(text))
		err := input.Text(from)
		if (err == nil) != (want == "") || err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n")) {
			t.Errorf("%q: %v; want %q", text, err, want)
		}
		if rest, _ := from.Peek(1); text != "" && string(rest) != text[:1] {
			t.Errorf("%q: it was read", text)
		}
	}
}
