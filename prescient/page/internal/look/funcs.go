package look

import (
	"encoding/json"
	"fmt"
	"html/template"
	"time"

	"prescient/prescient"
)

// payloadShown is how many bytes of a payload a page shows.
const payloadShown = 4000

// funcs are what templates may call, with what makes paths.
func funcs(link func(path string, query ...string) string, asset func(name string) (string, error)) template.FuncMap {
	return template.FuncMap{
		"asset":    asset,
		"link":     link,
		"follow":   func(path string, query []string) string { return link(path, query...) },
		"time":     Time,
		"plain":    Plain,
		"typed":    Typed,
		"field":    fieldOf,
		"relative": func(at any, now time.Time) string { t, is := timeOf(at); return orDash(is, Relative(t, now)) },
		"duration": durationOf,
		"number":   numberOf,
		"share":    Share,
		"seen":     Seen,
		"clip":     func(n int, text string) template.HTML { return Seen(Clip(n, text)) },
		"json":     linesOf,
		"counted": func(n any, one, many string) (string, error) {
			is, err := integer(n)
			return Counted(is, one, many), err
		},
		"entity":  func(name, key string) string { return prescient.Entity{Name: name, Key: key}.String() },
		"dict":    dict,
		"address": func(t time.Time) string { return t.UTC().Format(time.RFC3339) }, // as the value of a query
		"day":     func(t time.Time) string { return t.UTC().Format(time.DateOnly) },
	}
}

const dash = "–"

func orDash(is bool, text string) string {
	if !is {
		return dash
	}
	return text
}

// timeOf is a time.Time or *time.Time that there is.
func timeOf(at any) (t time.Time, is bool) {
	switch at := at.(type) {
	case time.Time:
		t = at
	case *time.Time:
		if at != nil {
			t = *at
		}
	}
	return t, !t.IsZero()
}

// Time is a time as HTML: in UTC, which the script turns into the viewer's zone where that is wanted.
func Time(at any) template.HTML {
	t, is := timeOf(at)
	if !is {
		return dash
	}
	return template.HTML(fmt.Sprintf(`<time datetime="%s">%s</time>`, t.UTC().Format(time.RFC3339), Stamp(t))) //nolint:gosec // digits
}

// fieldOf is a time as the value of a field; empty for none.
func fieldOf(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2006-01-02T15:04:05")
}

// durationOf is that of a time.Duration, or of milliseconds; nil is none.
func durationOf(d any) (string, error) {
	switch d := d.(type) {
	case time.Duration:
		return Duration(d), nil
	case *int64:
		if d == nil {
			return dash, nil
		}
	}
	ms, err := integer(d)
	return Duration(time.Duration(ms) * time.Millisecond), err
}

func numberOf(n any) (string, error) {
	is, err := integer(n)
	return Number(is), err
}

func integer(n any) (int64, error) {
	switch n := n.(type) {
	case int:
		return int64(n), nil
	case int64:
		return n, nil
	case *int64:
		return *n, nil
	case uint64:
		return int64(min(n, 1<<63-1)), nil //nolint:gosec // bounded
	case uint32:
		return int64(n), nil
	}
	return 0, fmt.Errorf("%T is no integer", n)
}

// shown is a payload for the part "payload".
type shown struct {
	Text  string
	Whole bool
	Bytes int
}

func linesOf(raw json.RawMessage) shown {
	text, whole := Lines(payloadShown, raw)
	return shown{text, whole, len(raw)}
}

// dict is for parts that take several values: names and values in turn.
func dict(pairs ...any) (map[string]any, error) {
	if len(pairs)%2 != 0 {
		return nil, fmt.Errorf("dict has %d arguments", len(pairs))
	}
	all := make(map[string]any)
	for i := 0; i < len(pairs); i += 2 {
		name, is := pairs[i].(string)
		if !is {
			return nil, fmt.Errorf("dict: %v is no name", pairs[i])
		}
		all[name] = pairs[i+1]
	}
	return all, nil
}
