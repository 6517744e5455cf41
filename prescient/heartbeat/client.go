package heartbeat

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"syscall"
	"time"

	"prescient/prescient"
)

// client asks URLs. It is a transport, and no http.Client: that follows redirects, and has the URL in its errors.
type client struct {
	*http.Transport
	within time.Duration // callTime, but for tests
}

func newClient() client {
	dialer := &net.Dialer{Timeout: callTime}
	return client{&http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: dialer.DialContext, TLSHandshakeTimeout: callTime, ForceAttemptHTTP2: true,
		DisableCompression: true, MaxIdleConns: mostSending, IdleConnTimeout: 30 * time.Second, MaxResponseHeaderBytes: 16 << 10}, callTime}
}

// parse reads a URL. The error shows nothing of it.
func parse(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, fmt.Errorf("%w: it is no URL", prescient.ErrInvalid)
	case u.Scheme != "http" && u.Scheme != "https" || u.Opaque != "" || u.Hostname() == "":
		return nil, fmt.Errorf("%w: want http:// or https://, and a host", prescient.ErrInvalid)
	}
	return u, nil
}

// mostRead is how much of an answer is read, so that its connection can be used again.
const mostRead = 1 << 10

// call asks a URL once. The error says nothing of it; again says that another try may do better.
func (c client) call(ctx context.Context, to *url.URL) (again bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.within)
	defer cancel()
	request := (&http.Request{Method: http.MethodGet, URL: to, Host: to.Host, Header: http.Header{"User-Agent": {"prescient"}}}).WithContext(ctx)
	if user := to.User; user != nil {
		password, _ := user.Password()
		request.SetBasicAuth(user.Username(), password)
	}
	response, err := c.RoundTrip(request)
	if err != nil {
		return true, c.kindOf(err)
	}
	defer response.Body.Close()
	_, _ = io.CopyN(io.Discard, response.Body, mostRead)
	switch status := response.StatusCode; {
	case status >= 200 && status < 300:
		return false, nil
	case status >= 300 && status < 400:
		return false, fmt.Errorf("answered %d: redirects are not followed", status)
	default:
		again = status >= 500 || status == http.StatusTooManyRequests || status == http.StatusRequestTimeout
		return again, fmt.Errorf("answered %d", status)
	}
}

// kindOf says what kind of error it is, in words of its own: the error's text may quote what was asked, or the answer.
func (c client) kindOf(err error) error {
	var (
		timeout interface{ Timeout() bool }
		host    *net.DNSError
		noTLS   tls.RecordHeaderError
		alert   tls.AlertError
		wrong   *tls.CertificateVerificationError
		network *net.OpError
	)
	switch {
	case errors.Is(err, context.DeadlineExceeded), errors.As(err, &timeout) && timeout.Timeout():
		return fmt.Errorf("no answer within %s", c.within)
	case errors.As(err, &host):
		return errors.New("its host is not found")
	case errors.As(err, &wrong):
		return errors.New("its certificate is not accepted")
	case errors.As(err, &noTLS), errors.As(err, &alert):
		return errors.New("TLS failed")
	case errors.Is(err, syscall.ECONNREFUSED):
		return errors.New("connection refused")
	case errors.As(err, &network), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errors.New("the connection failed")
	default:
		return errors.New("no answer of HTTP")
	}
}
