package config

import (
	"prescient/config/value"
)

// Setting is one key of the effective configuration.
type Setting struct {
	// Key is its name, such as worker.lease or jobs.http[0].url.
	Key string
	// Value is what was given, or the default, as it was written. Secrets are masked.
	Value string
	// Source is where it came from: "default", a file and its line, an environment variable, or a flag.
	Source string
}

// sourceDefault is the source of what was not given.
const sourceDefault = "default"

// settings are the keys of a configuration, in order.
type settings []Setting

// note adds a key, without what looks like a secret.
func (s *settings) note(one Setting) {
	if value.Confidential(one.Value) {
		one.Value = value.Mask
	}
	*s = append(*s, one)
}

// replace replaces a key that was noted.
func (s settings) replace(by Setting) {
	for i := range s {
		if s[i].Key == by.Key {
			s[i] = by
		}
	}
}
