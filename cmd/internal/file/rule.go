package file

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"go.yaml.in/yaml/v3"

	"prescient/prescient"
	"prescient/prescient/rule"
)

// ruleFields reads a rule.
func ruleFields(r *rule.Rule, enabled **bool) *fields {
	return &fields{named: "rule", list: []field{
		{"rule", text(&r.Name)}, {"occasion", text(&r.Occasion)}, {"exec", text(&r.JobExec)}, {"delay", duration(&r.Delay)}, {"spread", duration(&r.Spread)}, {"expires_after", duration(&r.ExpiresAfter)},
		{"on_pending", text((*string)(&r.OnPending))}, {"ends", texts(&r.Ends)}, {"payload", valueOf(&r.Payload, "payload")}, {"max_checks", count(&r.MaxChecks)}, {"max_errors", count(&r.MaxErrors)},
		{"enabled", said(enabled)},
	}}
}

// valueOf reads any value, which becomes JSON.
func valueOf(into *json.RawMessage, what string) func(node *yaml.Node) error {
	return func(node *yaml.Node) error {
		text, err := jsonOf(node)
		var inner *lineError
		if errors.As(err, &inner) {
			return &lineError{inner.line, fmt.Errorf("%s: %w", what, inner.error)}
		}
		*into = text
		return err
	}
}

func ruleNode(r rule.Rule, enabled *bool) (*yaml.Node, error) {
	m := mapping{yaml.Node{Kind: yaml.MappingNode}}
	m.text("rule", r.Name)
	m.text("occasion", r.Occasion)
	m.text("exec", r.JobExec)
	m.text("delay", durationText(r.Delay))
	m.text("spread", durationText(r.Spread))
	m.text("expires_after", durationText(r.ExpiresAfter))
	m.text("on_pending", unless(string(r.OnPending), string(prescient.Keep)))
	m.list("ends", r.Ends)
	if r.Payload != nil {
		node, err := nodeOf(r.Payload, 0)
		if err != nil {
			return nil, err
		}
		m.add("payload", node)
	}
	m.number("max_checks", r.MaxChecks)
	m.number("max_errors", r.MaxErrors)
	m.off(enabled)
	return &m.Node, nil
}

// number adds a number that is not 0.
func (m *mapping) number(name string, n int) {
	if n != 0 {
		m.add(name, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: strconv.Itoa(n)})
	}
}

// list adds texts: one as it is, several as a list.
func (m *mapping) list(name string, texts []string) {
	if len(texts) == 0 {
		return
	}
	if len(texts) == 1 {
		m.text(name, texts[0])
		return
	}
	list := &yaml.Node{Kind: yaml.SequenceNode}
	for _, one := range texts {
		list.Content = append(list.Content, textNode(one))
	}
	m.add(name, list)
}

// off says that something does not run.
func (m *mapping) off(enabled *bool) {
	if enabled != nil && !*enabled {
		m.add("enabled", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: "false"})
	}
}
