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

	"go.yaml.in/yaml/v3"

	"prescient/cmd/internal/input"
	"prescient/prescient/schedule"
)

// longestLine is the longest line of JSON that is read: a payload of which each byte is escaped, and the rest.
const longestLine = 6*schedule.MaxPayload + 64<<10

// jsonNodes reads an object a line. Empty lines are passed over.
func jsonNodes(from *bufio.Reader) iter.Seq2[*yaml.Node, error] {
	return func(yield func(*yaml.Node, error) bool) {
		if err := input.Text(from); err != nil {
			yield(nil, err)
			return
		}
		lines := input.Lines{From: from, Longest: longestLine}
		for n := 1; ; n++ {
			text, tooLong, err := lines.Next()
			switch {
			case ended(err):
				return
			case err != nil:
				yield(nil, err)
				return
			case tooLong:
				err = &Bad{Line: n, Err: fmt.Errorf("the line is longer than %d bytes", longestLine)}
			}
			text = bytes.TrimSpace(text)
			if err == nil && len(text) == 0 {
				continue
			}
			var node *yaml.Node
			if err == nil {
				if node, err = parseObject(n, text); err != nil && input.LoneCR(text) {
					err = badLine(node, input.ErrCR)
				}
			}
			if !yield(node, err) {
				return
			}
		}
	}
}

// parseObject reads a JSON object, with names that stand twice, which the decoder of Go lets pass. With an error it is what was read so far.
func parseObject(line int, text []byte) (*yaml.Node, error) {
	o := &yaml.Node{Kind: yaml.MappingNode, Line: line}
	bad := func(err error) error { return badLine(o, err) }
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
		if err := json.Unmarshal(raw, &v); err != nil { // a number that is too large for Go, too
			return o, bad(jsonError(err))
		}
		text, _ := name.(string)
		if halves(raw, v) {
			return o, bad(fmt.Errorf("%.80s has half of a surrogate pair (\\ud800 to \\udfff), which is no character", text))
		}
		content, err := nodeOf(raw, line)
		if err != nil {
			return o, bad(jsonError(err))
		}
		o.Content = append(o.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: line}, content)
	}
	if _, err := decoder.Token(); err != nil {
		return o, bad(jsonError(err))
	}
	if decoder.More() || len(bytes.TrimSpace(text[decoder.InputOffset():])) > 0 {
		return o, bad(errors.New("something stands behind the JSON object"))
	}
	return o, nil
}

// badLine is what is wrong with a line, by the id that was read in it.
func badLine(o *yaml.Node, err error) *Bad {
	bad := &Bad{Line: o.Line, Err: err}
	for i := 0; i+1 < len(o.Content) && bad.Name == ""; i += 2 {
		if o.Content[i].Value == string(Schedule) && isText(o.Content[i+1]) {
			bad.Kind, bad.Name = Schedule, o.Content[i+1].Value
		}
	}
	return bad
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
