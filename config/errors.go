package config

import (
	"errors"
	"fmt"
	"regexp"
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
	if e.Source == "" {
		return fmt.Sprintf("%s: %s", e.Key, e.Err)
	}
	return fmt.Sprintf("%s: %s (%s)", e.Key, e.Err, e.Source)
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

var errNotShown = errors.New("the value is not allowed here; it is not shown since it may hold a password")

// likeDSN matches a password between a user and a host.
var likeDSN = regexp.MustCompile(`(?s):.*@`)

// confidential reports whether a text looks as if a DSN or a URL with a password had been put in the wrong place.
func confidential(text string) bool { return likeDSN.MatchString(text) }

// quote shows what was given: in one line, not too long, and not if it may hold a password.
func quote(text string) string {
	if confidential(text) {
		return "a text that is not shown, since it may hold a password,"
	}
	return fmt.Sprintf("%.80q", text)
}

// plain shows the name of a key or a path: as it is if it is an ordinary one.
func plain(text string) string {
	if confidential(text) {
		return "(not shown, it may hold a password)"
	}
	if len(text) <= 4096 && ordinary.MatchString(text) {
		return text
	}
	return fmt.Sprintf("%.200q", text)
}

var ordinary = regexp.MustCompile(`^[\pL\pN_./\\:~+=@,\[\]-]+$`)
