package file

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"prescient/cmd/internal/input"
	"prescient/prescient/rule"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

// Format is how a file is written.
type Format string

// The formats.
const (
	YAML  Format = "yaml"
	JSONL Format = "jsonl"
)

// ParseFormat reads yaml or jsonl.
func ParseFormat(text string) (Format, error) {
	if f := Format(text); f == YAML || f == JSONL {
		return f, nil
	}
	return "", fmt.Errorf("format %.40q: %s and %s are allowed", text, YAML, JSONL)
}

// Guess says which format a file is in: by its name, else by how it begins. It reads nothing.
func Guess(name string, from *bufio.Reader) Format {
	switch strings.ToLower(filepath.Ext(name)) {
	case ".yaml", ".yml":
		return YAML
	case ".jsonl", ".ndjson":
		return JSONL
	}
	begins, _ := from.Peek(from.Size()) // what is less than that comes with an error
	// UTF-16 is none of JSON lines, which say so; YAML may be that.
	begins = bytes.TrimLeft(bytes.TrimPrefix(begins, byteOrderMark), " \t\r\n\xff\xfe\x00")
	if bytes.HasPrefix(begins, []byte("{")) {
		return JSONL
	}
	return YAML
}

var byteOrderMark = []byte("\ufeff")

// Read returns the entries of a file, each with nil or a *Bad. Any other error is that of reading the file, which ends there; it names the
// line where it can. YAML has entries of all kinds, JSON lines have schedules alone; what names no kind is refused as one that is wanted.
func Read(from *bufio.Reader, format Format, wanted Kind) iter.Seq2[Entry, error] {
	if mark, _ := from.Peek(len(byteOrderMark)); bytes.Equal(mark, byteOrderMark) {
		_, _ = from.Discard(len(byteOrderMark)) // of what was just seen
	}
	nodes := yamlNodes(from)
	if format == JSONL {
		nodes = jsonNodes(from)
	}
	return func(yield func(Entry, error) bool) {
		lines := make(map[string]int)
		for node, err := range nodes {
			var entry Entry
			if err == nil {
				entry, err = entryOf(node, wanted, format == YAML)
			}
			if err == nil {
				if first := lines[entry.String()]; first != 0 {
					err = entry.bad(entry.Line, fmt.Errorf("it stands in line %d already", first))
				} else {
					lines[entry.String()] = entry.Line
				}
			}
			var bad *Bad
			if !yield(entry, err) || err != nil && !errors.As(err, &bad) {
				return
			}
		}
	}
}

// entryOf reads an entry. Where kinds are mixed the first name of one says of which it is; without any it is taken for one that is wanted.
func entryOf(node *yaml.Node, wanted Kind, mixed bool) (Entry, error) {
	e := Entry{Line: node.Line, places: make(input.Places)}
	var is Kind
	for i := 0; mixed && node.Kind == yaml.MappingNode && i+1 < len(node.Content) && is == ""; i += 2 {
		if name := Kind(node.Content[i].Value); name == Schedule || name == Job || name == Step || name == Rule {
			is = name
		}
	}
	if is == "" && wanted == Schedule && plain(node) == nil && node.Kind != yaml.MappingNode {
		return e, e.bad(node.Line, errors.New("it is no schedule; want names and values, such as id: digest"))
	}
	switch {
	case is == "" && wanted == Rule:
		return e, e.bad(node.Line, errors.New("it is no rule; want rule: with a name"))
	case is == "" && wanted != Schedule:
		return e, e.bad(node.Line, errors.New("it is neither a job nor a step; want job: or step: with a name"))
	}
	var r Record
	var names *fields
	var check func() error
	switch is {
	case Job:
		e.Job = new(steps.Job)
		names = jobFields(e.Job, &e.Enabled, e.places)
		check = func() error { return e.Job.Validate() }
	case Step:
		e.Step = new(steps.Step)
		names = stepFields("step", "", e.Step)
		check = func() error { return e.Step.Validate() }
	case Rule:
		e.Rule = new(rule.Rule)
		names = ruleFields(e.Rule, &e.Enabled)
		check = func() error { return e.Rule.Validate() }
	default:
		e.Schedule = new(schedule.Wanted)
		names = scheduleFields(&r)
		check = func() (err error) {
			*e.Schedule, err = r.wanted()
			return err
		}
	}
	line, err := names.read(node, e.places)
	if e.Schedule != nil {
		e.Schedule.ID = r.ID
	}
	if err != nil {
		return e, e.bad(line, err)
	}
	if err := check(); err != nil {
		return e, e.Refused(err)
	}
	return e, nil
}
