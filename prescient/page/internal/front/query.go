package front

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	"prescient/prescient"
)

// Query is what a request says: the query of an address, or a form. What cannot be read is kept as an error, which Err returns.
type Query struct {
	values url.Values
	err    error
}

// NewQuery reads values.
func NewQuery(values url.Values) *Query { return &Query{values: values} }

// Err is the first of what could not be read; it wraps prescient.ErrInvalid.
func (q *Query) Err() error { return q.err }

// Text is a value as it is; empty where it is not given.
func (q *Query) Text(name string) string { return q.values.Get(name) }

// Texts are all that a value is given as, but empty ones.
func (q *Query) Texts(name string) (all []string) {
	for _, one := range q.values[name] {
		if one != "" {
			all = append(all, one)
		}
	}
	return all
}

// All are all that a value is given as, in order, also empty ones.
func (q *Query) All(name string) []string { return q.values[name] }

// Has says whether a value is given that is not empty.
func (q *Query) Has(name string) bool { return q.values.Get(name) != "" }

// layouts of times: as links have them, as browsers fill in fields, and what one types.
var layouts = []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02 15:04", time.DateOnly}

// Time is a time, in UTC where it has no zone; zero where it is not given.
func (q *Query) Time(name string) time.Time {
	text := q.values.Get(name)
	if text == "" {
		return time.Time{}
	}
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, text, time.UTC); err == nil {
			if t = t.UTC(); t.Year() < 1000 || t.Year() > 9999 { // as columns can hold
				break
			}
			return t
		}
	}
	q.wrong(fmt.Errorf("%w: %s %.40q: want a time as in 2026-11-20T13:15Z, in UTC where no zone is given, from the year 1000 to 9999", prescient.ErrInvalid, name, text))
	return time.Time{}
}

// Int is a number between two others, or usual where it is not given.
func (q *Query) Int(name string, usual, least, most int) int {
	text := q.values.Get(name)
	if text == "" {
		return usual
	}
	n, err := strconv.Atoi(text)
	if err != nil || n < least || n > most {
		q.wrong(fmt.Errorf("%w: %s %.40q: a number from %d to %d is allowed", prescient.ErrInvalid, name, text, least, most))
		return usual
	}
	return n
}

// Number is the number of a version or the like; 0 where it is not given.
func (q *Query) Number(name string) uint64 {
	text := q.values.Get(name)
	if text == "" {
		return 0
	}
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil {
		q.wrong(fmt.Errorf("%w: %s %.40q: a number is allowed", prescient.ErrInvalid, name, text))
	}
	return n
}

func (q *Query) wrong(err error) {
	if q.err == nil {
		q.err = err
	}
}

// With is the query as names and values in turn, for a link, with some set anew: names and values in turn; an empty value takes one out.
func (q *Query) With(set ...string) []string {
	values := make(url.Values)
	for name, all := range q.values {
		values[name] = all
	}
	for i := 0; i+1 < len(set); i += 2 {
		values[set[i]] = []string{set[i+1]}
	}
	var pairs []string
	for name, all := range values {
		for _, one := range all {
			pairs = append(pairs, name, one)
		}
	}
	return pairs
}
