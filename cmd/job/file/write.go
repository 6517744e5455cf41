package file

import (
	"bytes"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"prescient/config/value"
	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

// noQuota is how a quota is written where there is none.
const noQuota = "none"

// Write writes entries as Read reads them.
func Write(to io.Writer, entries ...Entry) error {
	for _, entry := range entries {
		node, err := entry.node()
		if err != nil {
			return err
		}
		e := yaml.NewEncoder(to)
		e.SetIndent(2)
		if err := e.Encode(&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{node}}); err != nil {
			return err
		}
		if err := e.Close(); err != nil {
			return err
		}
	}
	return nil
}

// Text is an entry as Write writes it.
func (e Entry) Text() (string, error) {
	var b bytes.Buffer
	err := Write(&b, e)
	return b.String(), err
}

// mapping is a mapping that is being written: what is empty is left out.
type mapping struct{ yaml.Node }

func (m *mapping) add(name string, node *yaml.Node) {
	m.Content = append(m.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: name}, node)
}

// text adds a text, in quotes where it could be read as something else.
func (m *mapping) text(name, text string) {
	if text != "" {
		m.add(name, textNode(text))
	}
}

func textNode(text string) *yaml.Node {
	node := new(yaml.Node)
	node.SetString(text)
	return node
}

func (m *mapping) truth(name string, is bool) {
	if is {
		m.add(name, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "true"})
	}
}

func (e Entry) node() (*yaml.Node, error) {
	if e.Step != nil {
		return stepNode("step", *e.Step)
	}
	m := mapping{yaml.Node{Kind: yaml.MappingNode}}
	j := *e.Job
	m.text("job", j.Name)
	if len(j.Crontabs) == 1 {
		m.text("crontab", j.Crontabs[0])
	} else {
		list := &yaml.Node{Kind: yaml.SequenceNode}
		for _, crontab := range j.Crontabs {
			list.Content = append(list.Content, textNode(crontab))
		}
		m.add("crontab", list)
	}
	m.text("zone", unless(j.Zone, "UTC"))
	m.text("pool", j.Pool)
	m.text("overlap", unless(string(j.Overlap), string(longrun.Forbid)))
	m.text("tolerance", durationText(j.Tolerance))
	if j.Quota == schedule.NoQuota {
		m.text("quota", noQuota)
	} else {
		m.text("quota", durationText(j.Quota))
	}
	m.text("catch_up", unless(string(j.CatchUp), string(schedule.Once)))
	m.text("catch_up_within", durationText(j.CatchUpWithin))
	m.text("expires_after", durationText(j.ExpiresAfter))
	m.text("jitter", durationText(j.Jitter))
	m.truth("coalesce", j.MayCoalesce)
	if e.Enabled != nil && !*e.Enabled {
		m.add("enabled", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "false"})
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, step := range j.Steps {
		node := textNode(step.Name)
		if !step.Shared || step.JobExec != "" {
			var err error
			if node, err = stepNode("name", step); err != nil {
				return nil, err
			}
		}
		list.Content = append(list.Content, node)
	}
	m.add("steps", list)
	return &m.Node, nil
}

func stepNode(named string, s steps.Step) (*yaml.Node, error) {
	m := mapping{yaml.Node{Kind: yaml.MappingNode}}
	m.text(named, s.Name)
	m.text("exec", s.JobExec)
	if s.Arguments != nil {
		node, err := nodeOf(s.Arguments)
		if err != nil {
			return nil, err
		}
		m.add("arguments", node)
	}
	m.text("timeout", durationText(s.Timeout))
	if s.Retries > 0 {
		m.add("retries", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(s.Retries)})
	}
	if s.RetryWait != steps.DefaultRetryWait {
		m.text("retry_wait", durationText(s.RetryWait))
	}
	m.text("on_failure", unless(string(s.OnFailure), string(steps.Stop)))
	return &m.Node, nil
}

func unless(text, usual string) string {
	if text == usual {
		return ""
	}
	return text
}

// durationText is a duration of whole milliseconds as it is read again; empty for none.
func durationText(d time.Duration) string {
	var b strings.Builder
	for _, unit := range []struct {
		d    time.Duration
		name string
	}{{value.Day, "d"}, {time.Hour, "h"}, {time.Minute, "m"}, {time.Second, "s"}, {time.Millisecond, "ms"}} {
		if n := d / unit.d; n > 0 {
			b.WriteString(strconv.FormatInt(int64(n), 10) + unit.name)
			d -= n * unit.d
		}
	}
	return b.String()
}

// Difference is what tells one text from another, by lines: those that only the first has behind -, those that only the second has
// behind +, and all others. Nothing for two that are the same.
func Difference(before, after string) (lines []string) {
	if before == after {
		return nil
	}
	a, b := slices.Collect(strings.Lines(before)), slices.Collect(strings.Lines(after))
	// most[i][j] is how many lines a[i:] and b[j:] have in common.
	most := make([][]int, len(a)+1)
	for i := range most {
		most[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if most[i][j] = max(most[i+1][j], most[i][j+1]); a[i] == b[j] {
				most[i][j] = most[i+1][j+1] + 1
			}
		}
	}
	line := func(sign, text string) { lines = append(lines, sign+strings.TrimSuffix(text, "\n")) }
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			line("  ", a[i])
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && most[i+1][j] >= most[i][j+1]:
			line("- ", a[i])
			i++
		default:
			line("+ ", b[j])
			j++
		}
	}
	return lines
}
