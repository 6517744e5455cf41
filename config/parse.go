package config

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/rs/zerolog"
)

// A parser reads the text of a value into its place. Its error says what was given and what is allowed.
type parser func(text string) error

func duration(into *time.Duration, least, most time.Duration) parser {
	return func(text string) error {
		d, err := ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%w; allowed are %s to %s", err, short(least), short(most))
		}
		if d < least || d > most {
			return fmt.Errorf("%s is out of range; allowed are %s to %s", quote(text), short(least), short(most))
		}
		*into = d
		return nil
	}
}

func number(into *int, least, most int) parser {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("%s is no whole number; allowed are %d to %d", quote(text), least, most)
		}
		if err != nil || n < least || n > most {
			return fmt.Errorf("%s is out of range; allowed are %d to %d", quote(text), least, most)
		}
		*into = n
		return nil
	}
}

// allowance is a number whose 0 becomes None.
func allowance(into *int, most int) parser {
	return func(text string) error {
		if err := number(into, 0, most)(text); err != nil {
			return err
		}
		if *into == 0 {
			*into = None
		}
		return nil
	}
}

func truth(into *bool) parser {
	return func(text string) error {
		switch strings.ToLower(text) {
		case "true":
			*into = true
		case "false":
			*into = false
		default:
			return fmt.Errorf("%s is neither true nor false", quote(text))
		}
		return nil
	}
}

func oneOf(into *string, allowed ...string) parser {
	return func(text string) error {
		lower := strings.ToLower(text)
		if !slices.Contains(allowed, lower) {
			return fmt.Errorf("%s is not known; allowed are %s", quote(text), strings.Join(allowed, ", "))
		}
		*into = lower
		return nil
	}
}

func level(into *zerolog.Level) parser {
	return func(text string) error {
		var name string
		if err := oneOf(&name, "trace", "debug", "info", "warn", "error", "disabled")(text); err != nil {
			return err
		}
		l, err := zerolog.ParseLevel(name)
		*into = l
		return err
	}
}

// matching is a text of limited length that a pattern describes.
func matching(into *string, most int, pattern *regexp.Regexp, allowed string) parser {
	return func(text string) error {
		switch {
		case len(text) > most:
			return fmt.Errorf("%s has %d characters; at most %d are allowed", quote(text), len(text), most)
		case !pattern.MatchString(text):
			return fmt.Errorf("%s is not allowed; only %s are", quote(text), allowed)
		}
		*into = text
		return nil
	}
}

// A digit is not allowed first: unquoted, a name such as 1e5x is a number to the servers.
var prefixPattern = regexp.MustCompile(`^([a-z_][a-z0-9_]*)?$`)

func tablePrefix(into *string) parser {
	return matching(into, 32, prefixPattern, "a-z, 0-9 and _, without a digit first,")
}

var identifierPattern = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// identifier is the name of a job_exec.
func identifier(into *string) parser {
	parse := matching(into, 64, identifierPattern, "letters, digits and _ . -")
	return func(text string) error {
		if text == "" {
			return errors.New("it is empty; want a name of letters, digits and _ . -")
		}
		return parse(text)
	}
}

// label is any printable text of limited length but a DSN.
func label(into *string, most int) parser {
	return func(text string) error {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return fmt.Errorf("%s has characters that cannot be printed; they are not allowed", quote(text))
		}
		if n := utf8.RuneCountInString(text); n > most {
			return fmt.Errorf("%s has %d characters; at most %d are allowed", quote(text), n, most)
		}
		if confidential(text) {
			return errNotShown
		}
		*into = text
		return nil
	}
}
