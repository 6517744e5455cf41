package input

import (
	"errors"
	"fmt"
	"strings"

	"prescient/prescient"
)

// Places are the lines of what stands in a file, by the names of fields as prescient.FieldError has them: zone, crontab[1],
// steps[0].retries.
type Places map[string]int

// Of returns the line of an error, which is that of the first field that it names, or begin where it names none that stands in the
// file. Of errors that were joined the others say their own lines.
func (p Places) Of(err error, begin int) (line int, placed error) {
	parts := joined(err)
	line = p.line(parts[0], begin)
	for i, part := range parts[1:] {
		if own := p.line(part, begin); own != line {
			parts[i+1] = fmt.Errorf("line %d: %w", own, part)
		}
	}
	return line, errors.Join(parts...)
}

func (p Places) line(err error, line int) int {
	within := ""
	var field *prescient.FieldError
	for errors.As(err, &field) {
		whole, _, _ := strings.Cut(field.Field, "[") // of a list, where its items have no lines
		for _, name := range []string{within + whole, within + field.Field} {
			if at, is := p[name]; is {
				line = at
			}
		}
		within, err = within+field.Field+".", field.Err
	}
	return line
}

// joined are the errors of errors.Join, or the one that there is.
func joined(err error) (parts []error) {
	list, is := err.(interface{ Unwrap() []error }) //nolint:errorlint // one that wraps such is one
	if !is || errors.Join(list.Unwrap()...).Error() != err.Error() {
		return []error{err}
	}
	for _, part := range list.Unwrap() {
		parts = append(parts, joined(part)...)
	}
	return parts
}
