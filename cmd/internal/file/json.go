package file

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// deepest is how deep values may lie in one another.
const deepest = 100

// jsonOf makes JSON of a value of YAML.
func jsonOf(node *yaml.Node) (json.RawMessage, error) {
	var b bytes.Buffer
	if err := appendJSON(&b, node, 0); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func appendJSON(b *bytes.Buffer, node *yaml.Node, depth int) error {
	if err := plain(node); err != nil {
		return &lineError{node.Line, err}
	}
	if depth > deepest {
		return &lineError{node.Line, fmt.Errorf("lists and objects lie more than %d deep in one another", deepest)}
	}
	switch node.Kind {
	case yaml.MappingNode:
		return appendObject(b, node, depth)
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, one := range node.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			if err := appendJSON(b, one, depth+1); err != nil {
				return err
			}
		}
		b.WriteByte(']')
		return nil
	}
	return appendScalar(b, node)
}

func appendObject(b *bytes.Buffer, node *yaml.Node, depth int) error {
	seen := make(map[string]bool)
	b.WriteByte('{')
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, content := node.Content[i], node.Content[i+1]
		if plain(name) != nil || name.Kind != yaml.ScalarNode || name.ShortTag() == "!!merge" {
			return &lineError{name.Line, errors.New("a name is no text")}
		}
		if seen[name.Value] {
			return &lineError{name.Line, fmt.Errorf("%.40q is there twice", name.Value)}
		}
		seen[name.Value] = true
		if i > 0 {
			b.WriteByte(',')
		}
		appendText(b, name.Value)
		b.WriteByte(':')
		if err := appendJSON(b, content, depth+1); err != nil {
			return err
		}
	}
	b.WriteByte('}')
	return nil
}

func appendScalar(b *bytes.Buffer, node *yaml.Node) error {
	tag := node.ShortTag()
	if _, is := numberOf(node); is && tag == "!!str" { // too large for a number of YAML
		tag = "!!float"
	}
	switch tag {
	case "!!null":
		b.WriteString("null")
	case "!!bool":
		var truth bool
		if err := node.Decode(&truth); err != nil {
			return err
		}
		fmt.Fprint(b, truth)
	case "!!int", "!!float":
		if !json.Valid([]byte(node.Value)) {
			return &lineError{node.Line, fmt.Errorf("%.40q is no number of JSON; a text stands in quotes", node.Value)}
		}
		b.WriteString(node.Value)
	default: // a text, or what looks like a time
		appendText(b, node.Value)
	}
	return nil
}

// numberOf is the number of JSON that stands there without quotes.
func numberOf(node *yaml.Node) (n json.Number, is bool) {
	return n, node.Style == 0 && json.Unmarshal([]byte(node.Value), &n) == nil && n != ""
}

func appendText(b *bytes.Buffer, text string) {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	_ = e.Encode(text) // a text cannot fail
	b.Truncate(b.Len() - 1)
}

// nodeOf makes YAML of a value of JSON that stands in a line, on one line where it is short.
func nodeOf(text json.RawMessage, line int) (*yaml.Node, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	node, err := nextNode(d, line)
	if err == nil && len(text) <= 80 && node.Kind != yaml.ScalarNode {
		node.Style = yaml.FlowStyle
	}
	return node, err
}

func nextNode(d *json.Decoder, line int) (*yaml.Node, error) {
	token, err := d.Token()
	if err != nil {
		return nil, err
	}
	node := &yaml.Node{Kind: yaml.ScalarNode, Line: line}
	switch v := token.(type) {
	case json.Delim:
		node.Kind, node.Tag = yaml.MappingNode, "!!map"
		if v == '[' {
			node.Kind, node.Tag = yaml.SequenceNode, "!!seq"
		}
		for d.More() {
			one, err := nextNode(d, line)
			if err != nil {
				return nil, err
			}
			node.Content = append(node.Content, one)
		}
		_, err = d.Token() // its end
	case string:
		node.Tag, node.Value = "!!str", v
		node.Style = yaml.DoubleQuotedStyle
	case json.Number:
		node.Value = v.String()
	case bool:
		node.Tag, node.Value = "!!bool", fmt.Sprint(v)
	default:
		node.Tag, node.Value = "!!null", "null"
	}
	return node, err
}
