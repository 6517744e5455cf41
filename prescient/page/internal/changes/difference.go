package changes

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// change is a part of an object that was another before. Was and Is say whether it was there.
type change struct {
	Path          string
	Was, Is       bool
	Before, After string
}

// mostChanges is how many changes of an entry are shown.
const mostChanges = 100

// between is what differs between two states of an object, by the paths of their parts; more is how many changes are left out. A state that is no
// object is one part without a path.
func between(before, after json.RawMessage) (all []change, more int) {
	was, is := parts(before), parts(after)
	paths := slices.Sorted(maps.Keys(was))
	for path := range is {
		if _, both := was[path]; !both {
			paths = append(paths, path)
		}
	}
	slices.SortFunc(paths, cmp.Compare[string])
	for _, path := range paths {
		b, had := was[path]
		a, has := is[path]
		if had == has && a == b {
			continue
		}
		all = append(all, change{path, had, has, b, a})
	}
	if more = len(all) - mostChanges; more > 0 {
		return all[:mostChanges], more
	}
	return all, 0
}

// parts are the values of a state by their paths.
func parts(state json.RawMessage) map[string]string {
	all := make(map[string]string)
	if len(state) == 0 {
		return all
	}
	d := json.NewDecoder(bytes.NewReader(state))
	d.UseNumber()
	var value any
	if err := d.Decode(&value); err != nil {
		all[""] = string(state)
		return all
	}
	take(all, "", value)
	return all
}

// take notes the values within a value.
func take(all map[string]string, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, one := range v {
			if path == "" {
				take(all, name, one)
			} else {
				take(all, path+"."+name, one)
			}
		}
		if len(v) == 0 && path != "" {
			all[path] = "{}"
		}
	case []any:
		for i, one := range v {
			take(all, fmt.Sprintf("%s[%d]", path, i), one)
		}
		if len(v) == 0 {
			all[path] = "[]"
		}
	case nil:
		all[path] = "null"
	default:
		all[path] = fmt.Sprint(v)
	}
}
