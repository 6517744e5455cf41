package value

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

// A Parser reads the text of a value into its place. Its error says what was given and what is allowed.
type Parser func(text string) error

// Duration is one within bounds.
func Duration(into *time.Duration, least, most time.Duration) Parser {
	return func(text string) error {
		d, err := ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%w; %s", err, durations(least, most))
		}
		if d < least || d > most {
			return &RangeError{text, durations(least, most)}
		}
		*into = d
		return nil
	}
}

// Number is a whole number within bounds.
func Number(into *int, least, most int) Parser {
	return func(text string) error {
		n, err := strconv.Atoi(text)
		if err != nil && !errors.Is(err, strconv.ErrRange) {
			return fmt.Errorf("%s is no whole number; %s", Quote(text), numbers(least, most))
		}
		if err != nil || n < least || n > most {
			return &RangeError{fmt.Sprintf("%.80s", text), numbers(least, most)}
		}
		*into = n
		return nil
	}
}

// Allowance is a number whose 0 is written into the place as none.
func Allowance(into *int, most, none int) Parser {
	return func(text string) error {
		if err := Number(into, 0, most)(text); err != nil {
			return err
		}
		if *into == 0 {
			*into = none
		}
		return nil
	}
}

// Truth is true or false.
func Truth(into *bool) Parser {
	return func(text string) error {
		switch strings.ToLower(text) {
		case "true":
			*into = true
		case "false":
			*into = false
		default:
			return fmt.Errorf("%s is neither true nor false", Quote(text))
		}
		return nil
	}
}

// OneOf is one of some words, in any case.
func OneOf(into *string, allowed ...string) Parser {
	return func(text string) error {
		lower := strings.ToLower(text)
		if !slices.Contains(allowed, lower) {
			return fmt.Errorf("%s is not known; allowed are %s", Quote(text), strings.Join(allowed, ", "))
		}
		*into = lower
		return nil
	}
}

// Level is that of a log.
func Level(into *zerolog.Level) Parser {
	return func(text string) error {
		var name string
		if err := OneOf(&name, "trace", "debug", "info", "warn", "error", "disabled")(text); err != nil {
			return err
		}
		l, err := zerolog.ParseLevel(name)
		*into = l
		return err
	}
}

// matching is a text of limited length that a pattern describes.
func matching(into *string, most int, pattern *regexp.Regexp, allowed string) Parser {
	return func(text string) error {
		switch {
		case len(text) > most:
			return fmt.Errorf("%s has %d characters; at most %d are allowed", Quote(text), len(text), most)
		case !pattern.MatchString(text):
			return fmt.Errorf("%s is not allowed; only %s are", Quote(text), allowed)
		}
		*into = text
		return nil
	}
}

// A digit is not allowed first: unquoted, a name such as 1e5x is a number to the servers.
var prefixPattern = regexp.MustCompile(`^([a-z_][a-z0-9_]*)?$`)

// TablePrefix is what names of tables may begin with.
func TablePrefix(into *string) Parser {
	return matching(into, 32, prefixPattern, "a-z, 0-9 and _, without a digit first,")
}

var identifierPattern = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)

// Identifier is the name of a job_exec.
func Identifier(into *string) Parser {
	parse := matching(into, 64, identifierPattern, "letters, digits and _ . -")
	return func(text string) error {
		if text == "" {
			return errors.New("it is empty; want a name of letters, digits and _ . -")
		}
		return parse(text)
	}
}

// Identifiers are names, parted by commas.
func Identifiers(into *[]string) Parser {
	return func(text string) error {
		*into = nil
		for item := range strings.SplitSeq(text, ",") {
			var name string
			if err := Identifier(&name)(strings.TrimSpace(item)); err != nil {
				return err
			}
			*into = append(*into, name)
		}
		return nil
	}
}

// Checked is a text of which somebody else says whether it is allowed, in an error that repeats nothing of it.
func Checked(into *string, check func(text string) error) Parser {
	return func(text string) error {
		if err := check(text); err != nil {
			return fmt.Errorf("%s is not allowed; %w", Quote(text), err)
		}
		*into = text
		return nil
	}
}

// Label is any printable text of limited length but a DSN.
func Label(into *string, most int) Parser {
	return func(text string) error {
		if !utf8.ValidString(text) || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
			return fmt.Errorf("%s has characters that cannot be printed; they are not allowed", Quote(text))
		}
		if n := utf8.RuneCountInString(text); n > most {
			return fmt.Errorf("%s has %d characters; at most %d are allowed", Quote(text), n, most)
		}
		if Confidential(text) {
			return ErrNotShown
		}
		*into = text
		return nil
	}
}
