package file

import (
	"bytes"
	"io"

	"go.yaml.in/yaml/v3"

	"prescient/prescient/longrun"
	"prescient/prescient/schedule"
	"prescient/prescient/steps"
)

// Write writes jobs, shared steps and rules as Read reads them.
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
	switch {
	case e.Step != nil:
		return stepNode("step", *e.Step)
	case e.Rule != nil:
		return ruleNode(*e.Rule, e.Enabled)
	}
	m := mapping{yaml.Node{Kind: yaml.MappingNode}}
	j := *e.Job
	m.text("job", j.Name)
	m.list("crontab", j.Crontabs)
	m.text("zone", unless(j.Zone, "UTC"))
	m.text("pool", j.Pool)
	m.text("heartbeat", j.Heartbeat)
	m.text("overlap", unless(string(j.Overlap), string(longrun.Forbid)))
	m.text("tolerance", durationText(j.Tolerance))
	m.text("quota", quotaText(j.Quota))
	m.text("catch_up", unless(string(j.CatchUp), string(schedule.Once)))
	m.text("catch_up_within", durationText(j.CatchUpWithin))
	m.text("expires_after", durationText(j.ExpiresAfter))
	m.text("jitter", durationText(j.Jitter))
	m.truth("coalesce", j.MayCoalesce)
	m.off(e.Enabled)
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
		node, err := nodeOf(s.Arguments, 0)
		if err != nil {
			return nil, err
		}
		m.add("arguments", node)
	}
	m.text("timeout", durationText(s.Timeout))
	m.number("retries", s.Retries)
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
