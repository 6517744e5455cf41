package file

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"prescient/cmd/internal/input"
	"prescient/config/value"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

// Read reads the jobs and shared steps of a file. What is wrong with some of them is in bad, each a *Bad; err is what keeps the file from
// being read on.
func Read(from io.Reader) (entries []Entry, bad []error, err error) {
	lines := make(map[string]int)
	decoder := yaml.NewDecoder(from)
	for {
		var document yaml.Node
		err := decoder.Decode(&document)
		switch {
		case errors.Is(err, io.EOF):
			return entries, bad, nil
		case err != nil:
			return entries, bad, fmt.Errorf("it is no YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
		case len(document.Content) == 0:
			continue
		}
		for _, node := range listOf(document.Content[0]) {
			entry, err := entryOf(node)
			if first := lines[entry.name()]; err == nil && first != 0 {
				err = &Bad{entry.Line, entry.String(), fmt.Errorf("it stands in line %d already", first)}
			}
			if err != nil {
				bad = append(bad, err)
				continue
			}
			lines[entry.name()] = entry.Line
			entries = append(entries, entry)
		}
	}
}

func (e Entry) name() string {
	if e.Job == nil && e.Step == nil {
		return ""
	}
	return e.String()
}

// listOf are the entries of a document: that of a list, or it is one.
func listOf(root *yaml.Node) []*yaml.Node {
	switch {
	case root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null":
		return nil
	case root.Kind == yaml.SequenceNode && plain(root) == nil:
		return root.Content
	}
	return []*yaml.Node{root}
}

// plain refuses what stands for something else.
func plain(node *yaml.Node) error {
	if node.Kind == yaml.AliasNode || node.Anchor != "" || node.Style&yaml.TaggedStyle != 0 {
		return errors.New("anchors, aliases and tags are not allowed")
	}
	return nil
}

// record is the names and values of a mapping, as a reader of one kind of them takes them.
type record struct {
	names  map[string]func(node *yaml.Node) error
	order  []string // of the names, for people
	named  string   // under which its name stands
	under  string   // what its fields lie in, with a point behind it
	places input.Places
}

func (r *record) takes(name string, read func(node *yaml.Node) error) {
	if r.names == nil {
		r.names = make(map[string]func(node *yaml.Node) error)
	}
	r.names[name] = read
	r.order = append(r.order, name)
}

// read reads a mapping. The line is that of the first thing that is wrong.
func (r *record) read(node *yaml.Node) (line int, err error) {
	if err := plain(node); err != nil {
		return node.Line, err
	}
	if node.Kind != yaml.MappingNode {
		return node.Line, fmt.Errorf("it is %s; want names and values", kindOf(node))
	}
	seen := make(map[string]bool)
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, content := node.Content[i], node.Content[i+1]
		switch read := r.names[name.Value]; {
		case plain(name) != nil || name.Kind != yaml.ScalarNode:
			return name.Line, errors.New("a name is no text")
		case read == nil:
			return name.Line, fmt.Errorf("unknown name %.40q%s; %s are allowed", name.Value, value.Suggestion(name.Value, r.order), strings.Join(r.order, ", "))
		case seen[name.Value]:
			return name.Line, fmt.Errorf("%s is there twice", name.Value)
		default:
			seen[name.Value] = true
			r.place(name.Value, content)
			if err := plain(content); err != nil {
				return content.Line, fmt.Errorf("%s: %w", name.Value, err)
			}
			var inner *lineError
			if err := read(content); errors.As(err, &inner) {
				return inner.line, err
			} else if err != nil {
				return content.Line, fmt.Errorf("%s%w", name.Value, err)
			}
		}
	}
	return node.Line, nil
}

// place notes where a value stands.
func (r *record) place(name string, content *yaml.Node) {
	if name == r.named {
		name = "name"
	}
	r.places[r.under+name] = content.Line
	if content.Kind == yaml.SequenceNode {
		for i, one := range content.Content {
			r.places[fmt.Sprintf("%s%s[%d]", r.under, name, i)] = one.Line
		}
	}
}

// lineError is an error that knows its line.
type lineError struct {
	line int
	error
}

func (e *lineError) Unwrap() error { return e.error }

// kindOf names what a node is.
func kindOf(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "an object"
	case yaml.SequenceNode:
		return "a list"
	}
	switch node.ShortTag() {
	case "!!str":
		return "a text"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "nothing"
	case "!!timestamp":
		return "a time"
	}
	return "a number"
}

// Readers of values. Their errors come behind the name.

func text(into *string) func(node *yaml.Node) error {
	return func(node *yaml.Node) error {
		if node.Kind != yaml.ScalarNode || node.ShortTag() != "!!str" {
			return fmt.Errorf(" is %s; want a text, in quotes", kindOf(node))
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

func duration(into *time.Duration) func(node *yaml.Node) error {
	return func(node *yaml.Node) error {
		var of string
		if err := text(&of)(node); err != nil {
			return err
		}
		d, err := value.ParseDuration(of)
		if err != nil {
			return fmt.Errorf(": %w", err)
		}
		*into = d
		return nil
	}
}

// quota is a duration, or none.
func quota(into *time.Duration) func(node *yaml.Node) error {
	return func(node *yaml.Node) error {
		if node.Value == noQuota && node.Kind == yaml.ScalarNode {
			*into = schedule.NoQuota
			return nil
		}
		return duration(into)(node)
	}
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

// entryOf reads a job or a shared step: the name that it has says which.
func entryOf(node *yaml.Node) (Entry, error) {
	entry := Entry{Line: node.Line, places: make(input.Places)}
	var r record
	var job steps.Job
	var step steps.Step
	is := ""
	for i := 0; node.Kind == yaml.MappingNode && i+1 < len(node.Content); i += 2 {
		if name := node.Content[i].Value; is == "" && (name == "job" || name == "step") {
			is = name
		}
	}
	switch is {
	case "job":
		r, entry.Job = jobRecord(&job, &entry), &job
	case "step":
		r, entry.Step = stepRecord("step", &step, "", entry.places), &step
	default:
		return entry, &Bad{Line: node.Line, Err: fmt.Errorf("it is neither a job nor a step; want job: or step: with a name")}
	}
	line, err := r.read(node)
	name := entry.String()
	if job.Name+step.Name == "" {
		name = ""
	}
	if err != nil {
		return entry, &Bad{line, name, err}
	}
	if entry.Job != nil {
		err = job.Validate()
	} else {
		err = step.Validate()
	}
	if err != nil {
		return entry, entry.Refused(err)
	}
	return entry, nil
}

// jobRecord reads a job.
func jobRecord(job *steps.Job, entry *Entry) (r record) {
	r.named, r.places = "job", entry.places
	r.takes("job", text(&job.Name))
	r.takes("crontab", texts(&job.Crontabs))
	r.takes("zone", text(&job.Zone))
	r.takes("steps", stepList(&job.Steps, entry.places))
	r.takes("pool", text(&job.Pool))
	r.takes("overlap", func(node *yaml.Node) (err error) {
		var of string
		if err = text(&of)(node); err == nil {
			if job.Overlap, err = longrun.ParseOverlap(of); err != nil {
				err = fmt.Errorf(": %w", err)
			}
		}
		return err
	})
	r.takes("tolerance", duration(&job.Tolerance))
	r.takes("quota", quota(&job.Quota))
	r.takes("catch_up", func(node *yaml.Node) (err error) {
		var of string
		if err = text(&of)(node); err == nil {
			if job.CatchUp, err = schedule.ParseCatchUp(of); err != nil {
				err = fmt.Errorf(": %w", err)
			}
		}
		return err
	})
	r.takes("catch_up_within", duration(&job.CatchUpWithin))
	r.takes("expires_after", duration(&job.ExpiresAfter))
	r.takes("jitter", duration(&job.Jitter))
	r.takes("coalesce", truth(&job.MayCoalesce))
	r.takes("enabled", func(node *yaml.Node) error {
		entry.Enabled = new(bool)
		return truth(entry.Enabled)(node)
	})
	return r
}

// stepRecord reads a step, whose name stands under step where it is shared, and under name where it is a job's own. It notes where its
// fields stand.
func stepRecord(named string, step *steps.Step, under string, places input.Places) (r record) {
	r.named, r.under, r.places = named, under, places
	r.takes(named, text(&step.Name))
	r.takes("exec", text(&step.JobExec))
	r.takes("arguments", func(node *yaml.Node) (err error) {
		step.Arguments, err = jsonOf(node)
		return err
	})
	r.takes("timeout", duration(&step.Timeout))
	r.takes("retries", count(&step.Retries))
	r.takes("retry_wait", duration(&step.RetryWait))
	r.takes("on_failure", text((*string)(&step.OnFailure)))
	return r
}

// stepList reads the steps of a job.
func stepList(into *[]steps.Step, places input.Places) func(node *yaml.Node) error {
	return func(node *yaml.Node) error {
		if node.Kind != yaml.SequenceNode {
			return fmt.Errorf(" is %s; want a list of steps", kindOf(node))
		}
		for i, one := range node.Content {
			var step steps.Step
			if one.Kind == yaml.ScalarNode {
				step.Shared = true
				if err := errors.Join(plain(one), text(&step.Name)(one)); err != nil {
					return &lineError{one.Line, fmt.Errorf("step %d%w", i+1, err)}
				}
			} else {
				r := stepRecord("name", &step, fmt.Sprintf("steps[%d].", i), places)
				if line, err := r.read(one); err != nil {
					return &lineError{line, fmt.Errorf("step %d: %w", i+1, err)}
				}
			}
			*into = append(*into, step)
		}
		return nil
	}
}
