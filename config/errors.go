package config

import (
	"fmt"

	"prescient/config/value"
)

// Error is one thing that is wrong with the configuration. [Load] joins all of them.
type Error struct {
	// Key is what is wrong: a key such as worker.lease or jobs.http[0].url, or the name of an environment variable.
	Key string
	// Source is where the value came from, such as "flag --worker-lease"; empty if it came from nowhere.
	Source string
	// Err is what was given and what is allowed. It may wrap an error of the package slots.
	Err error
}

// Error returns one line without secrets.
func (e *Error) Error() string {
	text := value.Named(e.Key, e.Err).Error()
	if e.Source != "" {
		text += " (" + e.Source + ")"
	}
	return text
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// problems gathers what is wrong.
type problems struct{ list []error }

func (p *problems) add(key, source string, err error) {
	p.list = append(p.list, &Error{Key: key, Source: source, Err: err})
}

func (p *problems) addf(key, source, format string, args ...any) {
	p.add(key, source, fmt.Errorf(format, args...))
}

// check adds an error that repeats the text, if it has one that can be repeated.
func (p *problems) check(key, text, source string, err error) {
	switch {
	case err == nil:
	case value.Confidential(text):
		p.add(key, source, value.ErrNotShown)
	case len(text) > 200:
		p.addf(key, source, "%s… has %d characters; at most 200 are allowed", value.Quote(text), len(text))
	default:
		p.add(key, source, err)
	}
}

// has reports whether one of these keys is wrong.
func (p *problems) has(keys ...string) bool {
	for _, err := range p.list {
		for _, key := range keys {
			if err.(*Error).Key == key {
				return true
			}
		}
	}
	return false
}
