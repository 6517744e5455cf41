package probe

import (
	"bytes"
	"context"
	"fmt"
	"io"
	nethttp "net/http"
	"strings"
	"time"

	"prescient/jobs/http"
	"prescient/prescient"
)

// call is how a call is made: what is not zero differs from what a worker does.
type call struct {
	secret []byte // that it is signed by; none for no signature
	// ago is for how long the call, and its signature, has been over.
	ago time.Duration
	// written makes the body another one before it is signed, and sent what goes out after that.
	written func(body []byte) []byte
	sent    func(header nethttp.Header, body []byte) []byte
}

// seen is what came of a call.
type seen struct {
	status int    // 0 where there was no answer
	date   string // the receiver's clock, as it says
	next   *time.Time
	err    error // what a worker's log says, without the URL
	took   time.Duration
	at     time.Time // when the answer was read
}

// make makes a call as a worker does: by the endpoint of package http.
func (c call) make(ctx context.Context, o Options, job prescient.FutureJob, over nethttp.RoundTripper) (seen, error) {
	job.CalledAt = time.Now().UTC().Truncate(time.Microsecond).Add(-c.ago)
	w := &wire{next: over, change: func(header nethttp.Header, body []byte) []byte { return c.changed(header, body, job.CalledAt) }}
	options := o.Endpoint // with its secret, which no error shows then
	options.Client = &nethttp.Client{Transport: w}
	endpoint, err := http.New(options)
	if err != nil {
		return seen{}, err
	}
	timeout := o.Guards.Timeout
	within, cancel := context.WithTimeoutCause(ctx, timeout, fmt.Errorf("%w: a call may take %s", prescient.ErrTimeout, timeout))
	defer cancel()
	began := time.Now()
	next, err := endpoint.Check(within, job)
	took := time.Since(began)
	if ctx.Err() != nil {
		return seen{}, ctx.Err()
	}
	if err != nil {
		err = said{strings.TrimPrefix(err.Error(), "POST "+endpoint.String()+": "), err}
	}
	return seen{status: w.status, date: w.date, next: next, err: err, took: took, at: began.UTC().Add(took)}, nil
}

// changed is the body as it goes out, and as the header goes with it.
func (c call) changed(header nethttp.Header, body []byte, at time.Time) []byte {
	if c.written != nil {
		body = c.written(body)
	}
	if header.Del(http.SignatureHeader); len(c.secret) > 0 {
		header.Set(http.SignatureHeader, http.Sign(c.secret, body, at))
	}
	if c.sent != nil {
		body = c.sent(header, body)
	}
	return body
}

// said is an error with a text of its own.
type said struct {
	text  string
	cause error
}

func (s said) Error() string { return s.text }
func (s said) Unwrap() error { return s.cause }

// wire is what one call goes out by.
type wire struct {
	next   nethttp.RoundTripper
	change func(header nethttp.Header, body []byte) []byte
	status int
	date   string
}

// RoundTrip implements http.RoundTripper.
func (w *wire) RoundTrip(request *nethttp.Request) (*nethttp.Response, error) {
	body, err := io.ReadAll(request.Body)
	if err != nil {
		return nil, err
	}
	request = request.Clone(request.Context())
	body = w.change(request.Header, body)
	request.ContentLength = int64(len(body))
	request.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	request.Body, _ = request.GetBody() // which cannot fail
	response, err := w.next.RoundTrip(request)
	if err == nil {
		w.status, w.date = response.StatusCode, response.Header.Get("Date")
	}
	return response, err
}
