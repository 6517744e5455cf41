package api

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
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
	for name, all := range values {
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

// deepest is how deep a body may be, but for what is free.
const deepest = 32

// plainBody refuses a body that has a name of an object twice, in whatever case, of which some readers see the first, some the last, and encoding/json
// a mixture; and bytes that are no text. What is no JSON is left to others.
func plainBody(body []byte) error {
	if !utf8.Valid(body) {
		return errors.New("not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(body))
	d.UseNumber()
	return plainValue(d, deepest)
}

// plainValue reads one value. After an error of the JSON whoever reads it next says what is wrong.
func plainValue(d *json.Decoder, deeper int) error {
	token, err := d.Token()
	opened, is := token.(json.Delim)
	if err != nil || !is {
		return nil
	}
	if deeper == 0 {
		return fmt.Errorf("deeper than %d", deepest)
	}
	seen := make(map[string]bool)
	for d.More() {
		name := ""
		if opened == '{' {
			token, err := d.Token()
			if err != nil {
				return nil
			}
			name, _ = token.(string)
			if folded := fold(name); seen[folded] {
				return fmt.Errorf("it has %.40q twice", name)
			} else {
				seen[folded] = true
			}
		}
		if slices.Contains(free, fold(name)) {
			if d.Decode(new(json.RawMessage)) != nil {
				return nil
			}
		} else if err := plainValue(d, deeper-1); err != nil {
			return err
		}
	}
	_, _ = d.Token() // what closes it
	return nil
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
