package look

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html/template"
	"strings"
	"unicode"
	"unicode/utf8"

	"prescient/prescient"
)

// Seen is a text of an app, a job_exec or a broker as HTML: it is set apart from the text around it, whichever way it is written, and what cannot be
// seen in it is shown by its number. Such a text could else pass for another, or turn round what stands beside it.
func Seen(s string) template.HTML {
	var out strings.Builder
	out.WriteString("<bdi>")
	begin := 0
	for i, r := range s {
		if !unicode.IsControl(r) && r != utf8.RuneError && !prescient.Unseen(r) {
			continue
		}
		template.HTMLEscape(&out, []byte(s[begin:i]))
		fmt.Fprintf(&out, `<span class="unseen">%s</span>`, named(r))
		begin = i + max(1, utf8.RuneLen(r))
		if r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") { // a byte that is none of UTF-8
			begin = i + 1
		}
	}
	template.HTMLEscape(&out, []byte(s[begin:]))
	out.WriteString("</bdi>")
	return template.HTML(out.String()) //nolint:gosec // escaped above
}

// Plain is Seen for where no HTML may stand, as the title of a page.
func Plain(s string) string {
	var out strings.Builder
	for _, r := range s {
		if unicode.IsControl(r) || prescient.Unseen(r) {
			out.WriteString(named(r))
			continue
		}
		out.WriteRune(r)
	}
	return out.String()
}

// Typed is a text for a field that one types in, and empty where one could not have typed it: a field would lose what cannot be seen in it.
func Typed(s string) string {
	if strings.ContainsFunc(s, unicode.IsControl) {
		return ""
	}
	return s
}

func named(r rune) string {
	switch r {
	case '\n':
		return `\n`
	case '\t':
		return `\t`
	case '\r':
		return `\r`
	}
	return fmt.Sprintf("%U", r)
}

// Clip is the begin of a text, of n characters at most.
func Clip(n int, s string) string { return prescient.Shorten(s, n) }

// Lines is JSON for people, a line a value, as far as limit bytes; whole says that this is all. A character that cannot be seen has its escape.
func Lines(limit int, raw json.RawMessage) (text string, whole bool) {
	var out bytes.Buffer
	if json.Indent(&out, raw[:min(len(raw), limit)], "", "  ") != nil { // none, or only its begin
		out.Reset()
		out.Write(raw[:min(len(raw), limit)])
	}
	text = strings.ToValidUTF8(out.String(), "")
	var seen strings.Builder
	for _, r := range text {
		if r != '\n' && (unicode.IsControl(r) || prescient.Unseen(r)) {
			fmt.Fprintf(&seen, `\u{%x}`, r)
			continue
		}
		seen.WriteRune(r)
	}
	return seen.String(), len(raw) <= limit
}
