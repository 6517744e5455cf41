package file

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"prescient/cmd/internal/input"
	"prescient/config/value"
)

// fields are the names and values of a mapping.
type fields struct {
	list    []field
	named   string // under which its name stands, where errors call that its name
	under   string // what they lie in, with a point behind it
	several bool   // of what is wrong more than the first is said
}

// field is a name, and what reads its value.
type field struct {
	name string
	read func(node *yaml.Node) error
}

// names are those of the fields, in the order in which people are told of them.
func (f *fields) names() (names []string) {
	for _, one := range f.list {
		names = append(names, one.name)
	}
	return names
}

// mostWrong is how much of what is wrong with one entry is said.
const mostWrong = 3

// read reads a mapping, and notes where its values stand. The line is that of the first thing that is wrong.
func (f *fields) read(node *yaml.Node, places input.Places) (line int, err error) {
	if err := plain(node); err != nil {
		return node.Line, err
	}
	if node.Kind != yaml.MappingNode {
		return node.Line, fmt.Errorf("it is %s; want names and values", kindOf(node))
	}
	var wrong []error
	seen := make(map[string]bool)
	for i := 0; i+1 < len(node.Content) && len(wrong) <= mostWrong; i += 2 {
		name, content := node.Content[i], node.Content[i+1]
		if plain(name) != nil || name.Kind != yaml.ScalarNode {
			return name.Line, errors.New("a name is no text")
		}
		if err := plain(content); err != nil {
			return content.Line, fmt.Errorf("%.80s: %w", name.Value, err)
		}
		at, err := f.readOne(name, content, places)
		if seen[name.Value] {
			at, err = name.Line, fmt.Errorf("%s is there twice", name.Value)
		}
		seen[name.Value] = true
		switch {
		case err == nil:
			continue
		case !f.several:
			return at, err
		case len(wrong) == mostWrong:
			err = errors.New("and more")
		case len(wrong) == 0:
			line = at
		case at != line:
			err = fmt.Errorf("line %d: %w", at, err)
		}
		wrong = append(wrong, err)
	}
	return line, errors.Join(wrong...)
}

// readOne reads a value. The line is where it is wrong.
func (f *fields) readOne(name, content *yaml.Node, places input.Places) (line int, err error) {
	i := slices.IndexFunc(f.list, func(one field) bool { return one.name == name.Value })
	if i < 0 {
		names := f.names()
		return name.Line, fmt.Errorf("unknown name %.80q%s; %s are allowed", name.Value, value.Suggestion(strings.ToLower(name.Value), names), strings.Join(names, ", "))
	}
	place := f.under + name.Value
	if name.Value == f.named {
		place = f.under + "name"
	}
	places[place] = name.Line
	if content.Kind == yaml.SequenceNode {
		for i, one := range content.Content {
			places[fmt.Sprintf("%s[%d]", place, i)] = one.Line
		}
	}
	var inner *lineError
	if err := f.list[i].read(content); errors.As(err, &inner) {
		return inner.line, err
	} else if err != nil {
		return name.Line, fmt.Errorf("%s%w", name.Value, err)
	}
	return name.Line, nil
}

// lineError is an error that knows its line.
type lineError struct {
	line int
	error
}

func (e *lineError) Unwrap() error { return e.error }

// Readers of values. Their errors come behind the name.

func isText(node *yaml.Node) bool { return node.Kind == yaml.ScalarNode && node.ShortTag() == "!!str" }

// noText refuses what is another kind. Quotes make a text of what YAML takes for something else.
func noText(node *yaml.Node) error {
	hint := ""
	if node.Kind == yaml.ScalarNode {
		hint = ", in quotes"
	}
	return fmt.Errorf(" is %s; want a text%s", kindOf(node), hint)
}

func text(into *string) func(node *yaml.Node) error {
	return func(node *yaml.Node) error {
		if !isText(node) {
			return noText(node)
		}
		if node.Value == "" {
			return errors.New(" is empty: give it a value, or leave it out")
		}
		*into = node.Value
		return nil
	}
}

func truth(into *bool) func(node *yaml.Node) error {
	return func(node *yaml.Node) error {
		if node.Kind != yaml.ScalarNode || node.ShortTag() != "!!bool" {
			return fmt.Errorf(" is %s; true and false are allowed", kindOf(node))
		}
		return node.Decode(into)
	}
}

// said notes that something was said, true or false.
func said(into **bool) func(node *yaml.Node) error {
	return func(node *yaml.Node) error {
		*into = new(bool)
		return truth(*into)(node)
	}
}

func count(into *int) func(node *yaml.Node) error {
	return func(node *yaml.Node) error {
		if node.Kind != yaml.ScalarNode || node.ShortTag() != "!!int" && kindOf(node) != "a number" {
			return fmt.Errorf(" is %s; want a whole number", kindOf(node))
		}
		n, err := strconv.Atoi(node.Value)
		switch {
		case node.ShortTag() != "!!int" || err != nil && node.Decode(into) != nil:
			return fmt.Errorf(" %.40q is no whole number; 0 or more is allowed", node.Value)
		case err != nil || strconv.Itoa(n) != node.Value: // YAML reads 010 as 8, 0x3 as 3 and 1_0 as 10
			return fmt.Errorf(" %.40q is no whole number as people write it; want digits, without a zero first", node.Value)
		}
		*into = n
		return nil
	}
}

// parsed is a text that is read by a function of what it says.
func parsed[T any](into *T, parse func(text string) (T, error)) func(node *yaml.Node) error {
	return func(node *yaml.Node) error {
		var of string
		if err := text(&of)(node); err != nil {
			return err
		}
		v, err := parse(of)
		if err != nil {
			return fmt.Errorf(": %w", err)
		}
		*into = v
		return nil
	}
}

func duration(into *time.Duration) func(node *yaml.Node) error {
	return parsed(into, value.ParseDuration)
}

func texts(into *[]string) func(node *yaml.Node) error {
	return func(node *yaml.Node) error {
		if node.Kind != yaml.SequenceNode {
			*into = make([]string, 1)
			return text(&(*into)[0])(node)
		}
		for _, one := range node.Content {
			var of string
			if err := errors.Join(plain(one), text(&of)(one)); err != nil {
				return &lineError{one.Line, fmt.Errorf("one in the list%w", err)}
			}
			*into = append(*into, of)
		}
		return nil
	}
}
