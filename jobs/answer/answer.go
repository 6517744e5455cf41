package answer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"prescient/prescient"
)

// The keys of an answer.
const (
	keyNextCheckAt = "next_check_at"
	keyNextIn      = "next_in"
)

// ErrEmpty is returned for a text that has nothing in it.
var ErrEmpty = errors.New("an empty text: want null when the matter is settled")

const wanted = `want null, {"next_check_at": "<RFC 3339>"} or {"next_in": "2h"}`

// Parse reads an answer at the time now, from which next_in counts. The result is in UTC, nil for null. The error says what came in the
// place of an answer, and quotes some of that as it is, however long.
func Parse(text []byte, now time.Time) (*time.Time, error) {
	if len(bytes.Trim(text, " \t\r\n")) == 0 {
		return nil, ErrEmpty
	}
	var document json.RawMessage
	if err := json.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("text that is not JSON (%w): %s", err, wanted)
	}
	key, value, err := onlyMember(document)
	if err != nil || key == "" {
		return nil, err
	}
	written, ok := value.(string)
	switch {
	case value == nil:
		return nil, fmt.Errorf("%s null: answer null by itself when the matter is settled", key)
	case !ok:
		return nil, fmt.Errorf("%s that is not a string: %s", key, wanted)
	case key == keyNextIn:
		return parseNextIn(written, now)
	default:
		return parseNextCheckAt(written)
	}
}

// onlyMember returns the one member of an answer, and no key for null. Names are compared as they are written, and
// one that comes twice is refused, where Unmarshal would be lenient with both.
func onlyMember(document []byte) (key string, value any, err error) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	switch first, err := decoder.Token(); {
	case err != nil:
		return "", nil, fmt.Errorf("text that is not JSON (%w): %s", err, wanted)
	case first == nil:
		return "", nil, nil
	case first != json.Delim('{'):
		return "", nil, fmt.Errorf("JSON that is neither null nor an object: %s", wanted)
	}
	for decoder.More() {
		name, err := decoder.Token()
		switch {
		case err != nil:
			return "", nil, fmt.Errorf("text that is not JSON (%w): %s", err, wanted)
		case name != keyNextCheckAt && name != keyNextIn:
			return "", nil, fmt.Errorf("the unknown key %q: %s", name, wanted)
		case name == key:
			return "", nil, fmt.Errorf("%s twice: %s", key, wanted)
		case key != "":
			return "", nil, fmt.Errorf("both %s and %s: %s", keyNextCheckAt, keyNextIn, wanted)
		}
		key = name.(string)
		if err := decoder.Decode(&value); err != nil {
			return "", nil, fmt.Errorf("%s that cannot be read (%w): %s", key, err, wanted)
		}
	}
	if key == "" {
		return "", nil, fmt.Errorf("an object without a key: %s", wanted)
	}
	return key, value, nil
}

// rfc3339 is the shape of a time; package time is more lenient.
var rfc3339 = regexp.MustCompile(`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$`)

func parseNextCheckAt(text string) (*time.Time, error) {
	var at time.Time
	if err := at.UnmarshalText([]byte(text)); err != nil || !rfc3339.MatchString(text) {
		reason := "is not RFC 3339"
		if _, err := time.Parse("2006-01-02T15:04:05", strings.Replace(text, " ", "T", 1)); err == nil {
			reason = "has no zone"
		}
		return nil, fmt.Errorf("%s %q, which %s: want a time such as 2026-03-01T16:00:00Z or 2026-03-01T17:00:00+01:00",
			keyNextCheckAt, text, reason)
	}
	at = at.UTC()
	return &at, nil
}

func parseNextIn(text string, now time.Time) (*time.Time, error) {
	in, err := time.ParseDuration(text)
	if err != nil {
		return nil, fmt.Errorf("%s %q, which is no duration: want one such as 2h or 1h30m (h, m, s, ms, us, ns; at most 292 years)",
			keyNextIn, text)
	}
	if in <= 0 {
		return nil, fmt.Errorf("%s %q, which is not positive", keyNextIn, text)
	}
	at := now.Round(0).UTC().Add(in)
	return &at, nil
}

// CalledAt is the time of a call by the database's clock, which is the same for all workers and for the slots; here, the time by this
// machine's, where no worker makes the call.
func CalledAt(job prescient.FutureJob, here time.Time) time.Time {
	if job.CalledAt.IsZero() {
		return here
	}
	return job.CalledAt
}

// Missing is why a call has no answer, in a text that is fit for a log and for last_error.
type Missing struct {
	Text  string
	Cause error
}

func (m *Missing) Error() string { return m.Text }
func (m *Missing) Unwrap() error { return m.Cause }
