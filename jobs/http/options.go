package http

import (
	"errors"
	"fmt"
	nethttp "net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"prescient/prescient"
)

// Bounds of the body of an answer, in bytes.
const (
	defaultMaxBody = 64 << 10
	maxMaxBody     = 16 << 20
)

// Options say where a check is sent and how. Only URL is needed.
//
// How long a call may take is the guard of the job_exec: its context bounds the whole call, from the dial to the last
// byte of the answer.
type Options struct {
	// URL is what is asked: absolute, http or https. User info in it is sent as basic authorization.
	URL string
	// Headers go with every call, such as Authorization; Host replaces the URL's. The headers that a call has by itself
	// (Content-Type, Idempotency-Key, X-Prescient-…) and those of the connection cannot be set.
	Headers map[string]string
	// Secret is the key of the signature. Empty: calls are not signed.
	Secret []byte
	// MaxBody is how many bytes of an answer are read; a longer one is an error. 64 KiB by default, 16 MiB at most.
	MaxBody int64
	// Client does the calls, for a proxy, certificates or a transport of one's own; whatever it says of redirects,
	// none is followed. Default: one that keeps up to 64 connections open for 90 s and has the environment's proxy.
	Client *nethttp.Client
	// Around is put around what sends the calls, to see or to trace them; nil for nothing. It has each call once, and redirects as they are answered.
	Around func(nethttp.RoundTripper) nethttp.RoundTripper
}

// reserved are the headers that a call has by itself, or that belong to the connection.
var reserved = map[string]bool{
	"Content-Type": true, "Content-Length": true, "Content-Encoding": true, "Transfer-Encoding": true,
	"Connection": true, "Keep-Alive": true, "Upgrade": true, "Trailer": true, "Te": true, "Expect": true,
	"Accept-Encoding": true, IdempotencyKeyHeader: true,
}

// parseURL returns an error that shows nothing of the URL but its scheme.
func parseURL(text string) (*url.URL, error) {
	if text == "" {
		return nil, fmt.Errorf("%w: URL is empty", prescient.ErrInvalid)
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%w: URL cannot be parsed: %s; want http://host/… or https://host/…", prescient.ErrInvalid, withoutQuotes(err))
	}
	switch {
	case u.Scheme == "":
		return nil, fmt.Errorf("%w: URL has no scheme: want http:// or https://", prescient.ErrInvalid)
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%w: URL has the scheme %.20q: want http or https", prescient.ErrInvalid, u.Scheme)
	case u.Opaque != "" || u.Hostname() == "":
		return nil, fmt.Errorf("%w: URL has no host: want %s://host/…", prescient.ErrInvalid, u.Scheme)
	case u.Fragment != "" || strings.HasSuffix(text, "#"):
		return nil, fmt.Errorf("%w: URL has a fragment (#…), which is never sent; write # as %%23", prescient.ErrInvalid)
	}
	if port := u.Port(); port != "" {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
			return nil, fmt.Errorf("%w: URL has a port that is not within 1 to 65535", prescient.ErrInvalid)
		}
	}
	return u, nil
}

var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// withoutQuotes returns the reason why a URL could not be parsed without the parts of it that are quoted there.
func withoutQuotes(err error) string {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return quoted.ReplaceAllString(err.Error(), `"…"`)
}

// parseHeaders returns the headers in canonical form, and the Host apart from them. Its errors have no values in them.
func parseHeaders(given map[string]string) (headers nethttp.Header, host string, err error) {
	headers = make(nethttp.Header, len(given)+3)
	for name, value := range given {
		if i := strings.IndexFunc(name, notInToken); i >= 0 || name == "" {
			return nil, "", fmt.Errorf("%w: header name %.40q…: only letters, digits and !#$%%&'*+-.^_`|~ are allowed",
				prescient.ErrInvalid, name[:max(i, 0)])
		}
		name = nethttp.CanonicalHeaderKey(name)
		switch {
		case strings.ContainsFunc(value, notInValue):
			return nil, "", fmt.Errorf("%w: header %s has a control character in its value", prescient.ErrInvalid, name)
		case reserved[name] || strings.HasPrefix(name, "X-Prescient-"):
			return nil, "", fmt.Errorf("%w: header %s cannot be configured: every call has its own", prescient.ErrInvalid, name)
		case headers[name] != nil || name == "Host" && host != "":
			return nil, "", fmt.Errorf("%w: header %s is given twice", prescient.ErrInvalid, name)
		case name == "Host" && value == "":
			return nil, "", fmt.Errorf("%w: header Host is empty", prescient.ErrInvalid)
		case name == "Host":
			host = value
		default:
			headers[name] = []string{value}
		}
	}
	headers.Set("Content-Type", "application/json")
	for name, value := range map[string]string{"Accept": "application/json", "User-Agent": "prescient"} {
		if headers[name] == nil {
			headers.Set(name, value)
		}
	}
	return headers, host, nil
}

func notInToken(r rune) bool {
	return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("!#$%&'*+-.^_`|~", r)
}

func notInValue(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }
