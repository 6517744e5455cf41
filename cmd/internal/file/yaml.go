package file

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"strings"

	"go.yaml.in/yaml/v3"
)

// yamlNodes reads documents that are an entry or a list of them. Empty ones are passed over.
func yamlNodes(from io.Reader) iter.Seq2[*yaml.Node, error] {
	return func(yield func(*yaml.Node, error) bool) {
		decoder := yaml.NewDecoder(from)
		for {
			var document yaml.Node
			err := decoder.Decode(&document)
			switch {
			case ended(err):
				return
			case err != nil:
				yield(nil, yamlError(err))
				return
			case len(document.Content) == 0:
				continue
			}
			for _, node := range listOf(document.Content[0]) {
				if !yield(node, nil) {
					return
				}
			}
		}
	}
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

// yamlError puts into words what cannot be read.
func yamlError(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	if strings.Contains(text, "cannot start any token") || strings.Contains(text, "alphabetic") || strings.Contains(text, "anchor") {
		text += "; is a crontab that begins with * or @ in quotes?"
	}
	return fmt.Errorf("it is no YAML: %s", text)
}

// plain refuses what stands for something else.
func plain(node *yaml.Node) error {
	if node.Kind == yaml.AliasNode || node.Anchor != "" || node.Style&yaml.TaggedStyle != 0 {
		return errors.New("anchors, aliases and tags are not allowed")
	}
	return nil
}

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

// ended says whether an error is that of the end of a file.
func ended(err error) bool { return errors.Is(err, io.EOF) }
