package file

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlObjects reads documents that are a schedule or a list of them. Empty ones are passed over.
func yamlObjects(from io.Reader) iter.Seq2[object, error] {
	return func(yield func(object, error) bool) {
		decoder := yaml.NewDecoder(from)
		for {
			var document yaml.Node
			err := decoder.Decode(&document)
			switch {
			case ended(err):
				return
			case err != nil:
				yield(object{}, yamlError(err))
				return
			case len(document.Content) == 0:
				continue
			}
			root := document.Content[0]
			list := []*yaml.Node{root}
			switch {
			case root.Kind == yaml.ScalarNode && root.ShortTag() == "!!null":
				continue
			case root.Kind == yaml.SequenceNode && plain(root) == nil:
				list = root.Content
			}
			for _, node := range list {
				if !yield(objectOf(node)) {
					return
				}
			}
		}
	}
}

// yamlError puts into words what cannot be read.
func yamlError(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.Contains(text, "cannot start any token") || strings.Contains(text, "alphabetic") || strings.Contains(text, "anchor") {
		text += "; is a crontab that begins with * or @ in quotes?"
	}
	return fmt.Errorf("it is no YAML: %s", text)
}

var errReference = errors.New("anchors, aliases and tags are not allowed")

// plain refuses what stands for something else.
func plain(node *yaml.Node) error {
	if node.Kind == yaml.AliasNode || node.Anchor != "" || node.Style&yaml.TaggedStyle != 0 {
		return errReference
	}
	return nil
}

func objectOf(node *yaml.Node) (object, error) {
	if err := plain(node); err != nil {
		return object{}, &Bad{Line: node.Line, Err: err}
	}
	if node.Kind != yaml.MappingNode {
		return object{}, &Bad{Line: node.Line, Err: errors.New("it is no schedule; want names and values, such as id: digest")}
	}
	o := object{line: node.Line}
	id := ""
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, content := node.Content[i], node.Content[i+1]
		if err := plain(name); err != nil || name.Kind != yaml.ScalarNode {
			return o, &Bad{name.Line, id, errors.New("a name is no text")}
		}
		v, err := valueOf(content)
		if err != nil {
			return o, &Bad{content.Line, id, fmt.Errorf("%.80s: %w", name.Value, err)}
		}
		if text, is := v.(string); is && name.Value == "id" {
			id = text
		}
		f := field{line: name.Line, name: name.Value, value: v}
		if _, is := v.([]any); is {
			for _, one := range content.Content {
				f.items = append(f.items, one.Line)
			}
		}
		o.fields = append(o.fields, f)
	}
	return o, nil
}

// valueOf is a value, as field has it.
func valueOf(node *yaml.Node) (any, error) {
	if err := plain(node); err != nil {
		return nil, err
	}
	switch node.Kind {
	case yaml.MappingNode:
		return aMapping, nil
	case yaml.SequenceNode:
		list := make([]any, len(node.Content))
		for i, one := range node.Content {
			if one.Kind == yaml.SequenceNode {
				list[i] = kind("a list")
				continue
			}
			v, err := valueOf(one)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	}
	switch node.ShortTag() {
	case "!!str":
		return node.Value, nil
	case "!!bool":
		var truth bool
		err := node.Decode(&truth)
		return truth, err
	case "!!null":
		return nothing, nil
	case "!!timestamp":
		return aTime, nil
	}
	return aNumber, nil
}
