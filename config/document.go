package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"prescient/config/value"
)

// A document is what a file says: its texts by key, such as worker.lease or jobs.http[0].headers.x-api-key.
type document struct {
	path   string
	values map[string]entry
	items  map[string][]int    // the lines of the items of a list, by its key
	named  map[string][]string // the keys of one's own, by the key above them
}

type entry struct {
	text string
	line int
}

func (d *document) source(line int) string {
	return fmt.Sprintf("file %s, line %d", value.Plain(d.path), line)
}

// parseDocument reads the text of a file. What is wrong with its form and its keys is added to the problems.
func parseDocument(path string, text []byte, p *problems) document {
	d := document{path: path, values: make(map[string]entry), items: make(map[string][]int), named: make(map[string][]string)}
	w := walker{problems: p, document: &d, shapes: shapes(), lines: make(map[string]int)}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var root yaml.Node
	err := decoder.Decode(&root)
	if errors.Is(err, io.EOF) {
		return d
	}
	if err == nil {
		for _, node := range root.Content {
			w.walk("", "", node)
		}
		switch err = decoder.Decode(new(yaml.Node)); {
		case errors.Is(err, io.EOF):
			return d
		case err == nil:
			err = errors.New("it has more than one document; only one is allowed")
		}
	}
	p.add(keyConfig, "file "+value.Plain(path), yamlReason(err))
	return d
}

// inQuotes is all that a message of the YAML parser repeats of the text.
var inQuotes = regexp.MustCompile("(?s)['\"`].*['\"`]")

// yamlReason keeps of a syntax error what cannot hold a secret.
func yamlReason(err error) error {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	text = inQuotes.ReplaceAllString(text, "…")
	if strings.Contains(text, "did not find expected alphabetic or numeric character") {
		text += "; a value that begins with * or & has to be in quotes"
	}
	return errors.New(strings.Join(strings.Fields(text), " "))
}

// A shape is what may stand at a place in the file.
type shape int

const (
	unknown shape = iota
	section       // keys that are known
	free          // keys of one's own
	list
	leaf
	pairs // names of one's own, each with a number; or all of them as one value
	exact // keys of one's own, whose case counts
)

func (s shape) String() string {
	return [...]string{"nothing", "keys below it", "keys below it", "a list", "one value", "names with a number each", "keys below it"}[s]
}

// shapes returns the shape of every known place, with [] for the number of an item and * for a key of one's own.
func shapes() map[string]shape {
	const item = keyHTTP + "[]"
	const headers = item + "." + keyHeaders
	known := map[string]shape{"": section, keyHTTP: list, item: section, headers: free, headers + ".*": leaf}
	for _, f := range fields(new(Config)) {
		known[f.name] = leaf
		for i, r := range f.name {
			if r == '.' {
				known[f.name[:i]] = section
			}
		}
	}
	for _, f := range httpFields(new(HTTPJob)) {
		known[item+"."+f.name] = leaf
	}
	const command = keyCommand + "[]"
	known[keyCommand], known[command], known[command+"."+keyEnv], known[command+"."+keyEnv+".*"] = list, section, exact, leaf
	for _, f := range commandFields(new(CommandJob)) {
		known[command+"."+f.name] = leaf
	}
	for _, name := range []string{keyRun, keyPassEnv} {
		known[command+"."+name], known[command+"."+name+"[]"] = list, leaf
	}
	const condition = keySQL + "[]"
	known[keySQL], known[condition], known[condition+"."+keyHeaders], known[condition+"."+keyHeaders+".*"] = list, section, free, leaf
	for _, f := range sqlFields(new(SQLJob)) {
		known[condition+"."+f.name] = leaf
	}
	for _, name := range []string{keyAgain, keyTopics} {
		known[condition+"."+name], known[condition+"."+name+"[]"] = list, leaf
	}
	known[keyPools] = pairs
	known[keyRoutes], known[keyRoutes+"[]"] = list, section
	for _, f := range routeFields(new(Route)) {
		known[keyRoutes+"[]."+f.name] = leaf
	}
	known[keyHeartbeats], known[keyHeartbeats+"[]"] = list, section
	for _, f := range heartbeatFields(new(Heartbeat)) {
		known[keyHeartbeats+"[]."+f.name] = leaf
	}
	known[keyReceivers], known[keyReceivers+"[]"] = list, section
	for _, f := range receiverFields(new(Receiver)) {
		known[keyReceivers+"[]."+f.name] = leaf
	}
	return known
}

type walker struct {
	*problems
	*document
	shapes map[string]shape
	lines  map[string]int // where each key was seen
}

// walk takes in a node at a key. The place is the key as it is found among the shapes.
func (w *walker) walk(key, place string, node *yaml.Node) {
	if node.Kind == yaml.AliasNode || node.Anchor != "" || node.Style&yaml.TaggedStyle != 0 {
		w.wrong(key, node, "anchors, aliases and tags of YAML are not allowed; "+
			"a value that begins with *, & or ! has to be in quotes")
		return
	}
	if node.ShortTag() == "!!null" {
		return
	}
	switch shape := w.shapes[place]; {
	case (shape == leaf || shape == pairs) && node.Kind == yaml.ScalarNode:
		w.values[key] = entry{text: node.Value, line: node.Line}
	case shape == list && node.Kind == yaml.SequenceNode:
		for i, item := range node.Content {
			w.items[key] = append(w.items[key], item.Line)
			w.walk(fmt.Sprintf("%s[%d]", key, i), place+"[]", item)
		}
	case shape == pairs && node.Kind == yaml.MappingNode:
		w.pairs(key, node)
	case (shape == section || shape == free || shape == exact) && node.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			w.member(key, place, node.Content[i], node.Content[i+1])
		}
	default:
		w.wrong(key, node, fmt.Sprintf("it has the wrong form; want %s", shape))
	}
}

// pairs takes in names and their numbers as the one value that they make. Case counts in such names.
func (w *walker) pairs(key string, node *yaml.Node) {
	var all []string
	for i := 0; i+1 < len(node.Content); i += 2 {
		name, number := node.Content[i], node.Content[i+1]
		if name.Kind != yaml.ScalarNode || number.Kind != yaml.ScalarNode || name.Style&yaml.TaggedStyle != 0 || number.Style&yaml.TaggedStyle != 0 {
			w.wrong(key, name, "it has the wrong form; want "+pairs.String())
			return
		}
		one, err := value.Pair(name.Value, number.Value)
		if err != nil {
			w.wrong(join(key, name.Value), name, err.Error())
			return
		}
		all = append(all, one)
	}
	w.values[key] = entry{text: strings.Join(all, ","), line: node.Line}
}

// member takes in one key of a mapping and its value.
func (w *walker) member(parent, place string, name, node *yaml.Node) {
	if name.Kind != yaml.ScalarNode {
		w.wrong(parent, name, "a key has to be a plain text")
		return
	}
	folded, own := strings.ToLower(name.Value), w.shapes[place] == free || w.shapes[place] == exact
	if w.shapes[place] == exact {
		folded = name.Value
	}
	key := join(parent, folded)
	inside := join(place, folded)
	if own {
		inside = place + ".*"
	} else if w.shapes[inside] == unknown || strings.ContainsAny(folded, "[]*") {
		w.wrong(key, name, "unknown key"+w.hint(inside))
		return
	}
	if line, again := w.lines[key]; again {
		w.wrong(key, name, fmt.Sprintf("it is given twice, first in line %d", line))
		return
	}
	w.lines[key] = name.Line
	if own {
		w.named[parent] = append(w.named[parent], folded)
	}
	w.walk(key, inside, node)
}

func (w *walker) hint(place string) string {
	if slices.Contains([]string{keyHTTP + "[].secret", keySQL + "[].secret", keyRoutes + "[].secret", keyReceivers + "[].secret", keyReceivers + "[].password"}, place) {
		return "; a secret does not belong into the file, name it with secret_file or secret_env"
	}
	if place == keySQL+"[].dsn" {
		return "; a secret does not belong into the file, name it with dsn_file or dsn_env"
	}
	var known []string
	for name := range w.shapes {
		known = append(known, name)
	}
	slices.Sort(known)
	return value.Suggestion(place, known)
}

func (w *walker) wrong(key string, node *yaml.Node, reason string) {
	if key == "" {
		key = keyConfig
	}
	w.add(value.Plain(key), w.source(node.Line), errors.New(reason))
}

func join(parent, name string) string {
	if parent == "" {
		return name
	}
	return parent + "." + name
}
