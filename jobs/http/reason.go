package http

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"html"
	nethttp "net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"prescient/jobs/answer"
	"prescient/prescient"
)

// Longest texts in an error, in characters.
const (
	maxExcerpt = 200
	maxReason  = 400
)

// failure makes the one kind of error that leaves the package.
func (e *Endpoint) failure(cause error) error {
	return &answer.Missing{Text: "POST " + e.String() + ": " + prescient.Shorten(clean(e.hide.Replace(cause.Error())), maxReason), Cause: cause}
}

// excerpt returns the beginning of a body, ready to be appended to an error.
func (e *Endpoint) excerpt(body []byte) string {
	text := prescient.Shorten(clean(e.hide.Replace(string(body))), maxExcerpt)
	if text == "" {
		return ""
	}
	return ": " + text
}

// clean returns text in one line of printable characters.
func clean(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, text)
	return strings.Join(strings.Fields(text), " ")
}

const (
	hidden    = "***"
	minHidden = 4 // bytes; shorter ones are words such as "1" that a text cannot do without
)

func newHider(u *url.URL, headers map[string]string, secret []byte) *strings.Replacer {
	values := []string{string(secret), base64.StdEncoding.EncodeToString(secret), u.RawQuery, u.EscapedPath(), u.Path}
	for _, list := range u.Query() {
		values = append(values, list...)
	}
	if u.User != nil {
		password, _ := u.User.Password()
		values = append(values, u.User.String(), u.User.Username(), password,
			base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	}
	for name, value := range headers {
		switch nethttp.CanonicalHeaderKey(name) {
		case "Host", "User-Agent", "Accept":
			continue // nothing to hide
		}
		values = append(values, value)
		values = append(values, strings.Fields(value)...)
	}
	var forms []string
	for _, value := range values {
		if len(value) < minHidden {
			continue
		}
		forms = append(forms, value, url.QueryEscape(value), url.PathEscape(value), html.EscapeString(value))
		for _, inQuotes := range []string{strconv.Quote(value), jsonOf(value)} {
			forms = append(forms, inQuotes[1:len(inQuotes)-1])
		}
	}
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), cmp.Compare(a, b)) })
	var pairs []string
	for _, form := range slices.Compact(forms) {
		pairs = append(pairs, form, hidden)
	}
	return strings.NewReplacer(pairs...)
}

func jsonOf(value string) string {
	text, _ := json.Marshal(value) // a string has no error
	return string(text)
}
