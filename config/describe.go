package config

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/rs/zerolog"

	"prescient/config/value"
)

// Setting is one key of the effective configuration.
type Setting struct {
	// Key is its name, such as worker.lease or jobs.http[0].url.
	Key string `json:"key"`
	// Value is what was given, or the default, as it was written. Secrets are masked.
	Value string `json:"value"`
	// Source is where it came from: "default", a file and its line, an environment variable, or a flag.
	Source string `json:"source"`
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

// Describe returns all keys in the order of the example file, then the keys that were given in jobs.http. It is empty
// for a Config that [Load] did not make.
func (c Config) Describe() []Setting { return slices.Clone([]Setting(c.settings)) }

// Given reports whether a key such as slots.resolution was given anywhere, rather than left at its default.
func (c Config) Given(key string) bool {
	return slices.ContainsFunc(c.settings, func(s Setting) bool { return s.Key == key && s.Source != sourceDefault })
}

// Redacted returns the effective configuration for people to read: a line for each key, with its source. Secrets are
// masked.
func (c Config) Redacted() string {
	var text strings.Builder
	for _, s := range c.settings {
		fmt.Fprintf(&text, "%s: %s  # %s\n", s.Key, quoteIfNeeded(s.Value), s.Source)
	}
	return text.String()
}

// String returns what was given, in one line; secrets are masked.
func (c Config) String() string {
	var given []string
	for _, s := range c.settings {
		if s.Source != sourceDefault {
			given = append(given, s.Key+"="+quoteIfNeeded(s.Value))
		}
	}
	return "config{" + strings.Join(given, " ") + "}"
}

// GoString is String.
func (c Config) GoString() string { return c.String() }

// MarshalZerologObject adds what was given to a log event, by key; secrets are masked.
func (c Config) MarshalZerologObject(event *zerolog.Event) {
	for _, s := range c.settings {
		if s.Source != sourceDefault {
			event.Str(s.Key, s.Value)
		}
	}
}

func quoteIfNeeded(text string) string {
	if text == "" || strings.ContainsAny(text, " #\"'") || strconv.Quote(text) != `"`+text+`"` {
		return strconv.Quote(text)
	}
	return text
}
