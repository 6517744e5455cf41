package answer

import (
	"strings"
	"testing"
	"time"
)

// read is when the answers of these tests are read: not in UTC, as a worker's clock may be.
var read = time.Date(2026, 3, 1, 14, 0, 0, 123456789, time.FixedZone("", 3600))

func TestAnswerIsATimeADurationOrNull(t *testing.T) {
	at := func(text string) *time.Time {
		at, err := time.Parse(time.RFC3339Nano, text)
		if err != nil {
			t.Fatal(err)
		}
		at = at.UTC()
		return &at
	}
	for _, test := range []struct {
		body string
		want *time.Time
	}{
		// settled
		{`null`, nil},
		{" \r\n\tnull\n", nil},

		// at a time
		{`{"next_check_at": "2026-03-01T16:00:00Z"}`, at("2026-03-01T16:00:00Z")},
		{`{"next_check_at":"2026-03-01T17:30:00+01:30"}`, at("2026-03-01T16:00:00Z")},
		{`{"next_check_at":"2026-03-01T16:00:00.000000001Z"}`, at("2026-03-01T16:00:00.000000001Z")},
		{"{\n  \"next_check_at\": \"2026-03-01T16:00:00-00:00\"\n}\n", at("2026-03-01T16:00:00Z")},
		{`{"next_\u0063heck_at": "2026-03-01T16:00:00\u005a"}`, at("2026-03-01T16:00:00Z")},

		// a time that is over, or far away, is for the rules of a check to judge
		{`{"next_check_at": "1970-01-01T00:00:00Z"}`, at("1970-01-01T00:00:00Z")},
		{`{"next_check_at": "9999-12-31T23:59:59Z"}`, at("9999-12-31T23:59:59Z")},

		// after a while, from the moment the answer was read
		{`{"next_in": "2h"}`, at("2026-03-01T15:00:00.123456789Z")},
		{`{"next_in": "1h30m0.5s"}`, at("2026-03-01T14:30:00.623456789Z")},
		{`{"next_in": "+1ns"}`, at("2026-03-01T13:00:00.123456790Z")},
		{`{"next_in": "2540400h"}`, at("2315-12-22T13:00:00.123456789Z")},
	} {
		got, err := Parse([]byte(test.body), read)
		switch {
		case err != nil:
			t.Errorf("%s: %v", test.body, err)
		case (got == nil) != (test.want == nil), got != nil && !got.Equal(*test.want):
			t.Errorf("%s: %v, want %v", test.body, got, test.want)
		case got != nil && got.Location() != time.UTC:
			t.Errorf("%s: %v is not in UTC", test.body, got)
		}
	}
}

func TestAnyOtherAnswerIsAnErrorThatSaysWhy(t *testing.T) {
	for _, test := range []struct{ body, want string }{
		// nothing
		{"", "an empty text: want null"},
		{" \r\n\t", "an empty text"},

		// not JSON
		{"OK", "not JSON (invalid character 'O'"},
		{"<html>", "not JSON"},
		{"{", "not JSON (unexpected end"},
		{"\ufeffnull", "not JSON"},
		{"\u00a0", "not JSON"},
		{`{'next_in': '2h'}`, "not JSON"},
		{`{"next_in": "2h",}`, "not JSON"},
		{`NaN`, "not JSON"},
		{`{"next_in": NaN}`, "not JSON"},
		{`{"next_in": Infinity}`, "not JSON"},
		{strings.Repeat("[", 20_000), "not JSON"},

		// something after the JSON
		{`null null`, "after top-level value"},
		{`null;`, "after top-level value"},
		{`{"next_in": "2h"}{"next_in": "3h"}`, "after top-level value"},
		{"null\x00", "after top-level value"},

		// JSON of another kind
		{`true`, "neither null nor an object"},
		{`false`, "neither null nor an object"},
		{`0`, "neither null nor an object"},
		{`"2h"`, "neither null nor an object"},
		{`"2026-03-01T16:00:00Z"`, "neither null nor an object"},
		{`[]`, "neither null nor an object"},
		{`[{"next_in": "2h"}]`, "neither null nor an object"},

		// keys
		{`{}`, "without a key"},
		{`{"next": "2h"}`, `unknown key "next"`},
		{`{"next_in ": "2h"}`, `unknown key "next_in "`},
		{`{"": "2h"}`, `unknown key ""`},
		{`{"Next_In": "2h"}`, `unknown key "Next_In"`},
		{`{"NEXT_CHECK_AT": "2026-03-01T16:00:00Z"}`, `unknown key "NEXT_CHECK_AT"`},
		{`{"next_in": "2h", "reason": "still open"}`, `unknown key "reason"`},
		{`{"reason": "still open", "next_in": "2h"}`, `unknown key "reason"`},
		{`{"next_in": "2h", "next_check_at": "2026-03-01T16:00:00Z"}`, "both"},
		{`{"next_check_at": "2026-03-01T16:00:00Z", "next_in": null}`, "both"},
		{`{"next_in": "2h", "next_in": "3h"}`, "next_in twice"},

		// values of another kind
		{`{"next_check_at": null}`, "next_check_at null: answer null"},
		{`{"next_in": null}`, "next_in null: answer null"},
		{`{"next_in": 7200}`, "next_in that is not a string"},
		{`{"next_in": 1e999}`, "next_in that cannot be read"},
		{`{"next_check_at": 1772380800}`, "next_check_at that is not a string"},
		{`{"next_check_at": {"at": "2026-03-01T16:00:00Z"}}`, "next_check_at that is not a string"},
		{`{"next_in": ["2h"]}`, "next_in that is not a string"},
		{`{"next_in": true}`, "next_in that is not a string"},

		// times
		{`{"next_check_at": "2026-03-01T16:00:00"}`, "has no zone"},
		{`{"next_check_at": "2026-03-01 16:00:00"}`, "has no zone"},
		{`{"next_check_at": "2026-03-01T16:00:00.5"}`, "has no zone"},
		{`{"next_check_at": "2026-03-01 16:00:00Z"}`, "is not RFC 3339"},
		{`{"next_check_at": "2026-03-01T16:00:00+0100"}`, "is not RFC 3339"},
		{`{"next_check_at": "2026-03-01T16:00:00 CET"}`, "is not RFC 3339"},
		{`{"next_check_at": "2026-03-01T16:00:00,5Z"}`, "is not RFC 3339"},
		{`{"next_check_at": "2026-03-01T6:00:00Z"}`, "is not RFC 3339"},
		{`{"next_check_at": "2026-03-01T16:00:00+25:00"}`, "is not RFC 3339"},
		{`{"next_check_at": "2026-03-01T16:00:60Z"}`, "is not RFC 3339"},
		{`{"next_check_at": "2026-03-01T24:00:00Z"}`, "is not RFC 3339"},
		{`{"next_check_at": "2026-03-01T16:00:00Z\n"}`, "is not RFC 3339"},
		{`{"next_check_at": "2026-02-29T16:00:00Z"}`, "is not RFC 3339"},
		{`{"next_check_at": "2026-03-01"}`, "is not RFC 3339"},
		{`{"next_check_at": " 2026-03-01T16:00:00Z"}`, "is not RFC 3339"},
		{`{"next_check_at": "12026-03-01T16:00:00Z"}`, "is not RFC 3339"},
		{`{"next_check_at": "tomorrow"}`, "is not RFC 3339"},
		{`{"next_check_at": ""}`, "is not RFC 3339"},
		{`{"next_check_at": "2h"}`, "is not RFC 3339"},

		// durations
		{`{"next_in": "0s"}`, "not positive"},
		{`{"next_in": "0"}`, "not positive"},
		{`{"next_in": "-2h"}`, "not positive"},
		{`{"next_in": "0.1ns"}`, "not positive"},
		{`{"next_in": "2562048h"}`, "no duration"}, // more than an int64 of nanoseconds
		{`{"next_in": "99999999999999999999h"}`, "no duration"},
		{`{"next_in": "2"}`, "no duration"},
		{`{"next_in": "2d"}`, "no duration"},
		{`{"next_in": "2 h"}`, "no duration"},
		{`{"next_in": "PT2H"}`, "no duration"},
		{`{"next_in": "NaN"}`, "no duration"},
		{`{"next_in": ""}`, "no duration"},
		{`{"next_in": "2026-03-01T16:00:00Z"}`, "no duration"},
	} {
		got, err := Parse([]byte(test.body), read)
		switch {
		case err == nil:
			t.Errorf("%.80s: %v, want an error with %q", test.body, got, test.want)
		case got != nil:
			t.Errorf("%.80s: an error and %v", test.body, got)
		case !strings.Contains(err.Error(), test.want):
			t.Errorf("%.80s: error %q, want %q in it", test.body, err, test.want)
		}
	}
}

func FuzzAnswerSettlesForNullOnly(f *testing.F) {
	for _, body := range []string{
		`null`, ` null `, ``, `{}`, `{"next_in":"2h"}`, `{"next_check_at":"2026-03-01T16:00:00Z"}`,
		`{"next_in":null}`, `{"a":{"b":[1,2,{}]}}`, `null null`, `{"next_in":"9223372036854775807ns"}`,
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		next, err := Parse(body, read)
		switch settled := strings.Trim(string(body), " \t\r\n") == "null"; {
		case err != nil && next != nil:
			t.Fatalf("%q: an error and %v", body, next)
		case settled != (err == nil && next == nil):
			t.Fatalf("%q: %v, %v", body, next, err)
		case next != nil && next.Location() != time.UTC:
			t.Fatalf("%q: %v is not in UTC", body, next)
		}
	})
}
