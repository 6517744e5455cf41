package file_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"prescient/cmd/internal/file"
	"prescient/cmd/internal/words"
	"prescient/prescient/schedule"
)

// Whatever stands in a file, it is read or refused; and what was read is written so that it is read again.
func FuzzRead(f *testing.F) {
	for _, format := range []file.Format{file.YAML, file.JSONL} {
		f.Add(written(f, format, file.Of(whole(), false)), format == file.YAML)
	}
	f.Add("id: a\ncrontab: ['@daily', \"0 1 * * *\"]\ntopic: t\n---\n- {id: b, crontab: '@hourly', exec: x, payload: |\n  a\n   b\n", true)
	f.Add("{\"id\":\"a\\ud83d\\ude00\",\"crontab\":\"@daily\",\"topic\":\"t\",\"payload\":\"\\ufffd\"}\n\n{}\n[]\n{\"id\":", false)
	f.Add("- &a [*a]\n- <<: *a\n- !!binary x\n- ? [a]\n  : b\n", true)
	f.Fuzz(func(t *testing.T, text string, yaml bool) {
		format := file.JSONL
		if yaml {
			format = file.YAML
		}
		entries, said := read(t, text, format)
		for _, line := range said {
			if line == "" || strings.Contains(line, "\n") {
				t.Errorf("%q", line)
			}
		}
		for _, entry := range entries {
			again(t, entry.Schedule.Schedule, entry.Schedule.Paused)
		}
	})
}

func FuzzPayloadsComeBackAsTheyWere(f *testing.F) {
	for _, text := range []string{"", "a", "yes", "5", "a\nb", "a\n b\n", " a\nb", "a\n\nb", "a\n\n", "\n", "\t", "# a\n# b", "---\n...\n", "\x00\x1b\u202e\u0085\u2028\ufeff\x7f", "\xff", "- a: b\n", `"`, "😀\n", "a: b", "~", "\ufffe", "x \n", "a\u00a0b\n\U000e0041\U000f0000", "\u200b\ufe0f"} {
		f.Add("id", []byte(text))
		if text != "" {
			f.Add(text, []byte(nil))
		}
	}
	f.Fuzz(func(t *testing.T, id string, payload []byte) {
		one := schedule.Schedule{ID: id, Crontabs: []string{"@daily"}, Topic: "t", Payload: payload}
		if one.Validate() == nil {
			again(t, one, false)
		}
	})
}

// again writes a schedule and reads it.
func again(t *testing.T, one schedule.Schedule, paused bool) {
	t.Helper()
	for _, format := range []file.Format{file.YAML, file.JSONL} {
		text := written(t, format, file.Of(one, !paused))
		if strings.ContainsFunc(strings.ReplaceAll(text, "\n", ""), words.Drives) || !utf8.ValidString(text) {
			t.Errorf("%q drives a terminal", text)
		}
		entries, said := read(t, text, format)
		if len(said) > 0 || len(entries) != 1 || len(file.Between(one, entries[0].Schedule.Schedule)) > 0 || !bytes.Equal(entries[0].Schedule.Payload, one.Payload) ||
			entries[0].Schedule.ID != one.ID || entries[0].Schedule.Paused != paused || (entries[0].Schedule.Payload == nil) != (one.Payload == nil) {
			t.Errorf("%+v was written as\n%s\nread: %+v, %q", one, text, entries, said)
		}
	}
}
