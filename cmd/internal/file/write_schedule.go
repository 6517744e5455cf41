package file

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"prescient/cmd/internal/output"
	"prescient/cmd/internal/words"
)

// WriteSchedule writes a record so that Read reads it again: one behind the other they are a file. What could drive a terminal is escaped.
func WriteSchedule(to io.Writer, format Format, r Record) error {
	if format == JSONL {
		return output.JSON(to, r)
	}
	var b bytes.Buffer
	mark := "- "
	for _, m := range r.members() {
		b.WriteString(mark + m.name + ":")
		mark = "  "
		switch {
		case m.name == "crontab" && len(m.texts) == 1:
			b.WriteString(" " + quoted(m.texts[0]))
		case m.name == "crontab":
			for _, text := range m.texts {
				b.WriteString("\n    - " + quoted(text))
			}
		case m.plain:
			b.WriteString(" " + m.texts[0])
		default:
			b.WriteString(scalar(m.texts[0]))
		}
		b.WriteByte('\n')
	}
	_, err := to.Write(b.Bytes())
	return err
}

// member is a name of a record with what stands for it.
type member struct {
	name  string
	texts []string // one, but for crontab
	plain bool     // true or false
}

// members are those of a record that have a value.
func (r Record) members() (list []member) {
	add := func(name, text string) {
		if text != "" {
			list = append(list, member{name: name, texts: []string{text}})
		}
	}
	add("id", r.ID)
	list = append(list, member{name: "crontab", texts: r.Crontab})
	add("zone", r.Zone)
	add("exec", r.Exec)
	add("topic", r.Topic)
	if r.Payload != nil {
		list = append(list, member{name: "payload", texts: []string{*r.Payload}})
	}
	add("payload_base64", r.PayloadBase64)
	add("owner", r.Owner)
	add("catch_up", r.CatchUp)
	add("catch_up_within", r.CatchUpWithin)
	add("expires_after", r.ExpiresAfter)
	add("jitter", r.Jitter)
	if r.Coalesce {
		list = append(list, member{"coalesce", []string{"true"}, true})
	}
	if r.Long {
		list = append(list, member{"long", []string{"true"}, true})
	}
	add("overlap", r.Overlap)
	add("tolerance", r.Tolerance)
	add("quota", r.Quota)
	add("pool", r.Pool)
	add("heartbeat", r.Heartbeat)
	if r.Enabled != nil {
		list = append(list, member{"enabled", []string{fmt.Sprint(*r.Enabled)}, true})
	}
	return list
}

// simple is a text that YAML reads as a text without quotes, unless it is one of the reserved.
var simple = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_./-]*$`)

var reserved = []string{"y", "n", "yes", "no", "on", "off", "true", "false", "null"}

// scalar is a text behind a name, with what stands before it.
func scalar(text string) string {
	switch {
	case simple.MatchString(text) && !slices.Contains(reserved, strings.ToLower(text)):
		return " " + text
	case isBlock(text):
		mark := "|-"
		if strings.HasSuffix(text, "\n") {
			mark = "|"
		}
		return " " + mark + "\n    " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ")
	}
	return " " + quoted(text)
}

// isBlock says whether a text of several lines can stand as it is. Lines that are empty, or begin with a blank, are left to quotes.
func isBlock(text string) bool {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if !strings.Contains(text, "\n") || strings.HasPrefix(lines[0], " ") {
		return false
	}
	return !slices.ContainsFunc(lines, func(line string) bool {
		return strings.TrimSpace(line) == "" || strings.ContainsFunc(line, func(r rune) bool { return words.Drives(r) || noCharacter(r) })
	})
}

// quoted is a text in quotes, with the escapes of JSON and, of characters that these have in two halves, that of YAML.
func quoted(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string cannot fail, nor does the builder
	var escaped strings.Builder
	for _, r := range strings.TrimSuffix(b.String(), "\n") {
		if words.Drives(r) || noCharacter(r) {
			escaped.WriteString(words.Escape(r))
		} else {
			escaped.WriteRune(r)
		}
	}
	return escaped.String()
}

// noCharacter says whether JSON has a character as it is, and YAML has not.
func noCharacter(r rune) bool { return r == '\ufffe' || r == '\uffff' }
