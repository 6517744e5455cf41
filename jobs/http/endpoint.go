package http

import (
	"cmp"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/url"
	"strings"
	"time"

	"prescient/prescient"
)

// An Endpoint is a URL that is asked for the answer of a job_exec. It may be used from several goroutines at once.
type Endpoint struct {
	url     *url.URL
	host    string // of the Host header; empty for the URL's
	headers nethttp.Header
	secret  []byte
	maxBody int64
	client  *nethttp.Client
	ours    *nethttp.Transport // nil where the client was given
	hide    *strings.Replacer
}

// New returns an endpoint whose Check can be registered as a job_exec. The error wraps prescient.ErrInvalid and shows
// no more of the options than the name of what is wrong. Nothing is sent.
func New(options Options) (*Endpoint, error) {
	u, err := parseURL(options.URL)
	if err != nil {
		return nil, fmt.Errorf("http job_exec: %w", err)
	}
	headers, host, err := parseHeaders(options.Headers)
	if err != nil {
		return nil, fmt.Errorf("http job_exec: %w", err)
	}
	if options.MaxBody < 0 || options.MaxBody > maxMaxBody {
		return nil, fmt.Errorf("http job_exec: %w: MaxBody %d: must be within 1 to %d bytes (0 for the default, %d)",
			prescient.ErrInvalid, options.MaxBody, maxMaxBody, defaultMaxBody)
	}
	e := &Endpoint{
		url:     u,
		host:    host,
		headers: headers,
		secret:  append([]byte(nil), options.Secret...),
		maxBody: cmp.Or(options.MaxBody, defaultMaxBody),
		hide:    newHider(u, options.Headers, options.Secret),
	}

	e.client = e.clientOf(options)
	return e, nil
}

// String returns the scheme and host of the URL: all of it that may stand in a log.
func (e *Endpoint) String() string { return e.url.Scheme + "://" + e.url.Host }

// CloseIdle closes the connections that are kept open and not in use. Those of a Client that was given are left alone.
func (e *Endpoint) CloseIdle() {
	if e.ours != nil {
		e.ours.CloseIdleConnections()
	}
}

// clientOf returns a client that does what the given one does but for redirects.
func (e *Endpoint) clientOf(o Options) *nethttp.Client {
	var client nethttp.Client
	if o.Client == nil {
		e.ours = NewTransport()
		client.Transport = e.ours
	} else {
		client = *o.Client
		if client.Transport == nil {
			client.Transport = nethttp.DefaultTransport
		}
	}
	if o.Around != nil {
		client.Transport = o.Around(client.Transport)
	}
	client.Transport = oneHop{client.Transport}
	return &client
}

// NewTransport returns what an endpoint without a Client calls by. It keeps as many connections to its one host as a busy slot uses, until shortly
// after the slot.
func NewTransport() *nethttp.Transport {
	dialer := &net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}
	return &nethttp.Transport{
		Proxy:                  nethttp.ProxyFromEnvironment,
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    10 * time.Second,
		ForceAttemptHTTP2:      true,
		DisableCompression:     true, // an answer is a line long
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    64,
		IdleConnTimeout:        90 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
	}
}

// oneHop makes an error of a redirect before the client can look at it: the client would put the whole location,
// query and all, in the error of one that it cannot parse.
type oneHop struct{ next nethttp.RoundTripper }

func (o oneHop) RoundTrip(request *nethttp.Request) (*nethttp.Response, error) {
	response, err := o.next.RoundTrip(request)
	if err != nil || response.StatusCode < 300 || response.StatusCode > 399 {
		return response, err
	}
	location := response.Header.Get("Location")
	if location == "" {
		return response, nil
	}
	drain(response.Body)
	return nil, &redirectError{status: response.StatusCode, to: siteOf(request.URL, location)}
}

// A redirectError is the answer of a receiver that is somewhere else.
type redirectError struct {
	status int
	to     string
}

func (r *redirectError) Error() string {
	return fmt.Sprintf("answered %s with a redirect to %s: redirects are not followed", statusText(r.status), r.to)
}

// siteOf returns the scheme and host of a location, which may be relative.
func siteOf(base *url.URL, location string) string {
	to, err := base.Parse(location)
	if err != nil || to.Host == "" {
		return "a location without a host"
	}
	return to.Scheme + "://" + to.Host
}

// drain reads a little of a body that nobody wants and closes it, so that its connection can be used again.
func drain(body io.ReadCloser) {
	_, _ = io.CopyN(io.Discard, body, 4<<10)
	_ = body.Close()
}
