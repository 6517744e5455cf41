package value

import (
	"errors"
	"fmt"
	"regexp"
)

// ErrNotShown is the error of a value that may hold a password.
var ErrNotShown = errors.New("the value is not allowed here; it is not shown since it may hold a password")

// likeDSN matches a password between a user and a host.
var likeDSN = regexp.MustCompile(`(?s):.*@`)

// Confidential reports whether a text looks as if a DSN or a URL with a password had been put in the wrong place.
func Confidential(text string) bool { return likeDSN.MatchString(text) }

// Quote shows what was given: in one line, not too long, and not if it may hold a password.
func Quote(text string) string {
	if Confidential(text) {
		return "a text that is not shown, since it may hold a password,"
	}
	return fmt.Sprintf("%.80q", text)
}

// Plain shows the name of a key or a path: as it is if it is an ordinary one.
func Plain(text string) string {
	if Confidential(text) {
		return "(not shown, it may hold a password)"
	}
	if len(text) <= 4096 && ordinary.MatchString(text) {
		return text
	}
	return fmt.Sprintf("%.200q", text)
}

var ordinary = regexp.MustCompile(`^[\pL\pN_./\\:~+=@,\[\]-]+$`)
