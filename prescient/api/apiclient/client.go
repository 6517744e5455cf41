package apiclient

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"time"
)

// Options are for New.
type Options struct {
	// Token is what the caller proves itself by.
	Token string
	// HTTP sends requests; http.DefaultClient where it is nil. A Timeout of it bounds exports, too: contexts bound each call by itself.
	HTTP *http.Client
	// UserAgent is the name of the program; prescient-apiclient by default.
	UserAgent string
}

// Client asks an API. Several goroutines may use it at a time.
type Client struct {
	address string
	o       Options
}

// New returns a client of the API at an address, such as https://prescient.internal:8484, or with the path under which the API is mounted behind it.
func New(address string, o Options) (*Client, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("address of the API: %w", err)
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" {
		return nil, fmt.Errorf("address of the API: want one as https://prescient.internal:8484, without a user and a query; got %q", u.Redacted())
	}
	o.HTTP, o.UserAgent = cmp.Or(o.HTTP, http.DefaultClient), cmp.Or(o.UserAgent, "prescient-apiclient")
	return &Client{strings.TrimSuffix(u.String(), "/"), o}, nil
}

// With says more of a deed.
type With func(http.Header)

// Key has the deed done once, however often it is sent with this key of your own choosing within 24 hours: the same answer comes again.
// Where the answer of a deed was lost, send it again with its key.
func Key(key string) With { return func(h http.Header) { h.Set("Idempotency-Key", key) } }

// Reason says why, for the audit.
func Reason(reason string) With { return func(h http.Header) { h.Set("Prescient-Reason", reason) } }

// call sends a request and reads its answer.
func call[T any](ctx context.Context, c *Client, method, path string, q query, body any, with []With) (*T, error) {
	resp, err := c.open(ctx, method, path, q, body, with)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	answer := new(T)
	if err := json.NewDecoder(resp.Body).Decode(answer); err != nil {
		return nil, fmt.Errorf("reading the answer of %s: %w", path, err)
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(resp.Body, 1<<10)) // so that the connection is used again
	return answer, nil
}

// open sends a request. The caller reads the answer and closes its body.
func (c *Client) open(ctx context.Context, method, path string, q query, body any, with []With) (*http.Response, error) {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("writing what %s is sent: %w", path, err)
		}
	}
	address := c.address + path
	if len(q) > 0 {
		address += "?" + url.Values(q).Encode()
	}
	req, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", c.o.UserAgent)
	if c.o.Token != "" {
		req.Header.Set("Authorization", "Bearer "+c.o.Token)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	for _, w := range with {
		w(req.Header)
	}
	resp, err := c.o.HTTP.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	return nil, errorOf(resp)
}

// query is what a request asks for.
type query url.Values

// add adds a value, but one that is zero: it is not given then. A list is several values where it is exploded, and else one with commas.
func (q query) add(name string, value any, explode bool) {
	v := reflect.ValueOf(value)
	if v.IsZero() {
		return
	}
	switch value := reflect.Indirect(v).Interface().(type) {
	case time.Time:
		q[name] = []string{value.UTC().Format(time.RFC3339Nano)}
	case []string:
		if !explode {
			value = []string{strings.Join(value, ",")}
		}
		q[name] = value
	default:
		q[name] = []string{fmt.Sprint(value)}
	}
}
