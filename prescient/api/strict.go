package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"prescient/prescient"
)

// plainQuery refuses a query of which readers leave a part out, or take one of several: without its filter a list would have everything. Only the names of
// several may be given again. The zero time would be none.
func plainQuery(raw string, several []string) error {
	values, err := url.ParseQuery(raw)
	if err != nil {
		return fmt.Errorf("%w: the query cannot be read: %w", prescient.ErrInvalid, err)
	}
	for part := range strings.SplitSeq(raw, "&") {
		if raw != "" && !strings.Contains(part, "=") {
			return fmt.Errorf("%w: the query has %.40q, and no = in it", prescient.ErrInvalid, part)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		all := values[name]
		if len(all) > 1 && !slices.Contains(several, name) {
			return fmt.Errorf("%w: %.40q is given %d times", prescient.ErrInvalid, name, len(all))
		}
		for _, value := range all {
			if !utf8.ValidString(value) {
				return fmt.Errorf("%w: %.40q is not valid UTF-8", prescient.ErrInvalid, name)
			}
			if at, err := time.Parse(time.RFC3339, value); err == nil && at.IsZero() {
				return fmt.Errorf("%w: %.40q is no time; leave it out for none", prescient.ErrInvalid, name)
			}
		}
	}
	return nil
}

// free are the names below which a body has what its caller likes, for a job_exec.
var free = []string{"payload", "arguments"}

const (
	// deepest is how deep a body may be, and mostValues how many values it may have, but for what is free. A thousand checks have half as many. Each
	// costs some hundred times its length while a body is read, and what is wrong with it is said.
	deepest    = 32
	mostValues = 20_000
)

// errFull is returned where a body has too many values.
var errFull = fmt.Errorf("more than %d values", mostValues)

// plainBody reads a body in general, for who looks whether it is as described: what is free it leaves out. It refuses a body that has a name of an
// object twice, in whatever case, of which some readers see the first, some the last, and encoding/json a mixture; bytes that are no text; and what
// is too deep or too much.
func plainBody(body []byte) (any, error) {
	if !utf8.Valid(body) {
		return nil, errors.New("not valid UTF-8")
	}
	if !json.Valid(body) {
		return nil, json.Unmarshal(body, new(struct{})) // which says where
	}
	r := plainReader{json.NewDecoder(bytes.NewReader(body)), mostValues}
	return r.value(deepest)
}

// plainReader reads what is valid JSON.
type plainReader struct {
	*json.Decoder
	more int // values
}

func (r *plainReader) value(deeper int) (any, error) {
	if r.more--; r.more < 0 {
		return nil, errFull
	}
	token, err := r.Token()
	opened, is := token.(json.Delim)
	switch {
	case err != nil || !is:
		return token, err
	case deeper == 0:
		return nil, fmt.Errorf("deeper than %d", deepest)
	}
	list, object, seen := []any{}, make(map[string]any), make(map[string]bool)
	for r.More() {
		if opened == '[' {
			one, err := r.value(deeper - 1)
			if err != nil {
				return nil, err
			}
			list = append(list, one)
			continue
		}
		token, err := r.Token()
		if err != nil {
			return nil, err
		}
		name, _ := token.(string)
		folded := fold(name)
		if seen[folded] {
			return nil, fmt.Errorf("it has %.40q twice", name)
		}
		seen[folded] = true
		if slices.Contains(free, folded) {
			object[name], err = r.leftOut()
		} else {
			object[name], err = r.value(deeper - 1)
		}
		if err != nil {
			return nil, err
		}
	}
	if _, err := r.Token(); err != nil { // what closes it
		return nil, err
	}
	if opened == '[' {
		return list, nil
	}
	return object, nil
}

// leftOut reads what is free: a text or a number as it is, and an empty object for all that has others in it.
func (r *plainReader) leftOut() (value any, err error) {
	var raw json.RawMessage
	if err := r.Decode(&raw); err != nil {
		return nil, err
	}
	if raw[0] == '{' || raw[0] == '[' {
		return map[string]any{}, nil
	}
	return value, json.Unmarshal(raw, &value)
}

// fold is a name as those see it who heed no case.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
			least = min(least, next)
		}
		return unicode.ToLower(least)
	}, name)
}
