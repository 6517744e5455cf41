package file

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"strings"

	"prescient/cmd/internal/input"
	"prescient/config/value"
	"prescient/prescient"
	"prescient/prescient/schedule"
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

// Entry is a schedule of a file.
type Entry struct {
	// Line is where it begins, counted from 1.
	Line int
	schedule.Wanted

	places input.Places
}

// Refused says what is wrong with it: in the line of the field that the error names.
func (e Entry) Refused(err error) *Bad {
	line, err := e.places.Of(err, e.Line)
	return &Bad{line, e.ID, err}
}

// Bad is what is wrong with a schedule of a file; those behind it can be read.
type Bad struct {
	// Line is where it is wrong, or begins.
	Line int
	// ID is empty where there is none to be read.
	ID  string
	Err error
}

// Error names the id.
func (b *Bad) Error() string {
	text := strings.ReplaceAll(b.Err.Error(), "\n", "; ")
	if quoted := fmt.Sprintf("%q", b.ID); b.ID != "" && !strings.Contains(text, quoted) {
		text = fmt.Sprintf("schedule %.160q: %s", b.ID, text)
	}
	return text
}

// Unwrap returns what is wrong.
func (b *Bad) Unwrap() error { return b.Err }

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

// Read returns the schedules of a file, each with nil or a *Bad. Any other error is that of reading the file, which ends there; it
// names the line where it can.
func Read(from *bufio.Reader, format Format) iter.Seq2[Entry, error] {
	if mark, _ := from.Peek(len(byteOrderMark)); bytes.Equal(mark, byteOrderMark) {
		_, _ = from.Discard(len(byteOrderMark)) // of what was just seen
	}
	objects := yamlObjects(from)
	if format == JSONL {
		objects = jsonObjects(from)
	}
	return func(yield func(Entry, error) bool) {
		lines := make(map[string]int)
		for o, err := range objects {
			if err == nil {
				var entry Entry
				entry, err = o.entry()
				if first := lines[entry.ID]; err == nil && first != 0 {
					err = &Bad{o.line, entry.ID, fmt.Errorf("it stands in line %d already", first)}
				}
				if err == nil {
					lines[entry.ID] = entry.Line
				}
				if !yield(entry, err) {
					return
				}
				continue
			}
			var bad *Bad
			if !yield(Entry{}, err) || !errors.As(err, &bad) {
				return
			}
		}
	}
}

// object is a schedule as it was read: names and values, which may be any.
type object struct {
	line   int
	fields []field
}

type field struct {
	line int
	name string
	// value is a string, a bool, a []any of values, or a kind.
	value any
	items []int // the lines of those of a list, where they have their own
}

// kind names a value of a kind that no name takes.
type kind string

// entry makes the schedule.
func (o object) entry() (Entry, error) {
	var r Record
	e := Entry{Line: o.line, places: make(input.Places)}
	var wrong []error
	for _, f := range o.fields {
		err := r.set(f)
		if e.places[f.name] != 0 {
			err = fmt.Errorf("%s is there twice", f.name)
		}
		e.places[f.name] = f.line
		for i, line := range f.items {
			e.places[fmt.Sprintf("%s[%d]", f.name, i)] = line
		}
		if err != nil {
			wrong = append(wrong, prescient.InField(f.name, err))
		}
	}
	if len(wrong) > mostWrong {
		wrong = append(wrong[:mostWrong], errors.New("and more"))
	}
	err := errors.Join(wrong...)
	e.ID = r.ID
	if err == nil {
		e.Wanted, err = r.wanted()
	}
	if err != nil {
		return Entry{Line: o.line}, e.Refused(err)
	}
	return e, nil
}

// mostWrong is how much of what is wrong with one schedule is said.
const mostWrong = 3

// set takes a value of a record.
func (r *Record) set(f field) error {
	texts := map[string]*string{"id": &r.ID, "zone": &r.Zone, "exec": &r.Exec, "topic": &r.Topic, "payload_base64": &r.PayloadBase64,
		"owner": &r.Owner, "catch_up": &r.CatchUp, "catch_up_within": &r.CatchUpWithin, "expires_after": &r.ExpiresAfter, "jitter": &r.Jitter,
		"overlap": &r.Overlap, "tolerance": &r.Tolerance, "quota": &r.Quota, "pool": &r.Pool}
	truths := map[string]*bool{"coalesce": &r.Coalesce, "long": &r.Long}
	text, isText := f.value.(string)
	truth, isTruth := f.value.(bool)
	into, isOf := texts[f.name], truths[f.name]
	switch {
	case into != nil && isText && text == "":
		return fmt.Errorf("%s is empty: give it a value, or leave it out", f.name)
	case into != nil && isText:
		*into = text
	case f.name == "payload" && isText:
		r.Payload = &text
	case into != nil || f.name == "payload":
		return fmt.Errorf("%s is %s; want a text%s", f.name, kindOf(f.value), inQuotes(f.value))
	case isOf != nil && isTruth:
		*isOf = truth
	case f.name == "enabled" && isTruth:
		r.Enabled = &truth
	case isOf != nil || f.name == "enabled":
		return fmt.Errorf("%s is %s; true and false are allowed", f.name, kindOf(f.value))
	case f.name == "crontab" && isText:
		r.Crontab = Crontabs{text}
	case f.name == "crontab":
		list, is := f.value.([]any)
		if !is {
			return fmt.Errorf("crontab is %s; want a text, or a list of texts", kindOf(f.value))
		}
		for _, one := range list {
			text, is := one.(string)
			if !is {
				return fmt.Errorf("crontab has %s in its list; want texts", kindOf(one))
			}
			r.Crontab = append(r.Crontab, text)
		}
	default:
		return fmt.Errorf("unknown name %.80q%s; %s are allowed", f.name, value.Suggestion(strings.ToLower(f.name), names), strings.Join(names, ", "))
	}
	return nil
}

func kindOf(v any) string {
	switch v := v.(type) {
	case kind:
		return string(v)
	case string:
		return "a text"
	case bool:
		return "true or false"
	}
	return "a list"
}

// inQuotes is a hint for texts that YAML takes for something else.
func inQuotes(v any) string {
	switch v.(type) {
	case bool:
		return ", in quotes"
	case kind:
		if v != aMapping {
			return ", in quotes"
		}
	}
	return ""
}

// The kinds that no name takes.
const (
	aNumber  kind = "a number"
	nothing  kind = "nothing"
	aTime    kind = "a time"
	aMapping kind = "an object"
)

// ended says whether an error is that of the end of a file.
func ended(err error) bool { return errors.Is(err, io.EOF) }
