package file

import (
	"fmt"

	"go.yaml.in/yaml/v3"
)

// names are those of a Record, in its order.
var names = scheduleFields(new(Record)).names()

// scheduleFields reads a record.
func scheduleFields(r *Record) *fields {
	return &fields{several: true, list: []field{
		{"id", text(&r.ID)}, {"crontab", crontabs(&r.Crontab)}, {"zone", text(&r.Zone)}, {"exec", text(&r.Exec)}, {"topic", text(&r.Topic)},
		{"payload", payload(&r.Payload)}, {"payload_base64", text(&r.PayloadBase64)}, {"owner", text(&r.Owner)}, {"catch_up", text(&r.CatchUp)},
		{"catch_up_within", text(&r.CatchUpWithin)}, {"expires_after", text(&r.ExpiresAfter)}, {"jitter", text(&r.Jitter)}, {"coalesce", truth(&r.Coalesce)},
		{"long", truth(&r.Long)}, {"overlap", text(&r.Overlap)}, {"tolerance", text(&r.Tolerance)}, {"quota", text(&r.Quota)}, {"pool", text(&r.Pool)},
		{"heartbeat", text(&r.Heartbeat)},
		{"enabled", said(&r.Enabled)},
	}}
}

// payload reads a text, which may be empty.
func payload(into **string) func(node *yaml.Node) error {
	return func(node *yaml.Node) error {
		if !isText(node) {
			return noText(node)
		}
		*into = &node.Value
		return nil
	}
}

func crontabs(into *Crontabs) func(node *yaml.Node) error {
	return func(node *yaml.Node) error {
		switch {
		case isText(node):
			*into = Crontabs{node.Value}
			return nil
		case node.Kind != yaml.SequenceNode:
			return fmt.Errorf(" is %s; want a text, or a list of texts", kindOf(node))
		}
		for _, one := range node.Content {
			if err := plain(one); err != nil {
				return &lineError{one.Line, fmt.Errorf("crontab: %w", err)}
			}
			if !isText(one) {
				return fmt.Errorf(" has %s in its list; want texts", kindOf(one))
			}
			*into = append(*into, one.Value)
		}
		return nil
	}
}
