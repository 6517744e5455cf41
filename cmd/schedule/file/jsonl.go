package file

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"unicode/utf8"

	"prescient/cmd/internal/input"
	"prescient/prescient/schedule"
)

// longestLine is the longest line of JSON that is read: a payload of which each byte is escaped, and the rest.
const longestLine = 6*schedule.MaxPayload + 64<<10

// jsonObjects reads an object a line. Empty lines are passed over.
func jsonObjects(from *bufio.Reader) iter.Seq2[object, error] {
	return func(yield func(object, error) bool) {
		if err := input.Text(from); err != nil {
			yield(object{}, err)
			return
		}
		lines := input.Lines{From: from, Longest: longestLine}
		for n := 1; ; n++ {
			text, tooLong, err := lines.Next()
			switch {
			case ended(err):
				return
			case err != nil:
				yield(object{}, err)
				return
			case tooLong:
				err = &Bad{Line: n, Err: fmt.Errorf("the line is longer than %d bytes", longestLine)}
			}
			text = bytes.TrimSpace(text)
			if err == nil && len(text) == 0 {
				continue
			}
			var o object
			if err == nil {
				if o, err = parseObject(n, text); err != nil && input.LoneCR(text) {
					err = &Bad{n, o.id(), input.ErrCR}
				}
			}
			if !yield(o, err) {
				return
			}
		}
	}
}

// parseObject reads a JSON object, with names that stand twice, which the decoder of Go lets pass.
func parseObject(line int, text []byte) (object, error) {
	o := object{line: line}
	bad := func(err error) error { return &Bad{line, o.id(), err} }
	if !utf8.Valid(text) {
		return o, bad(errors.New("the line is not UTF-8"))
	}
	decoder := json.NewDecoder(bytes.NewReader(text))
	if begin, err := decoder.Token(); err != nil || begin != json.Delim('{') {
		return o, bad(errors.New("the line is no JSON object"))
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return o, bad(jsonError(err))
		}
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			return o, bad(jsonError(err))
		}
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			return o, bad(jsonError(err))
		}
		text, _ := name.(string)
		if halves(raw, v) {
			return o, bad(fmt.Errorf("%.80s has half of a surrogate pair (\\ud800 to \\udfff), which is no character", text))
		}
		o.fields = append(o.fields, field{line: line, name: text, value: jsonValue(v)})
	}
	if _, err := decoder.Token(); err != nil {
		return o, bad(jsonError(err))
	}
	if decoder.More() || len(bytes.TrimSpace(text[decoder.InputOffset():])) > 0 {
		return o, bad(errors.New("something stands behind the JSON object"))
	}
	return o, nil
}

// id is that of what was read so far.
func (o object) id() string {
	for _, f := range o.fields {
		if text, is := f.value.(string); is && f.name == "id" {
			return text
		}
	}
	return ""
}

func jsonError(err error) error {
	text := err.Error()
	if ended(err) || strings.Contains(text, "unexpected EOF") || strings.Contains(text, "unexpected end") {
		text = "it ends too early"
	}
	return fmt.Errorf("the line is no JSON object: %s", strings.TrimPrefix(text, "json: "))
}

// halves says whether a text was written with something that Go reads as U+FFFD, and that is not this.
func halves(raw []byte, v any) bool {
	text, is := v.(string)
	if list, isList := v.([]any); isList {
		for _, one := range list {
			part, _ := one.(string)
			text, is = text+part, true
		}
	}
	if !is || !strings.ContainsRune(text, utf8.RuneError) {
		return false
	}
	written := bytes.Count(raw, []byte("\ufffd")) + bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`))
	return strings.Count(text, "\ufffd") > written
}

// jsonValue is a value, as field has it.
func jsonValue(v any) any {
	switch v := v.(type) {
	case nil:
		return nothing
	case float64:
		return aNumber
	case map[string]any:
		return aMapping
	case []any:
		for i, one := range v {
			if _, is := one.([]any); is {
				v[i] = kind("a list")
			} else {
				v[i] = jsonValue(one)
			}
		}
	}
	return v
}
