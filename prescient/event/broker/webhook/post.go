package webhook

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	standardwebhooks "github.com/standard-webhooks/standard-webhooks/libraries/go"

	"prescient/prescient"
	"prescient/prescient/event/broker"
)

// HeaderIdempotencyKey has the id of the event, which is the same however often it is posted.
const HeaderIdempotencyKey = "Idempotency-Key"

// errNoAnswer is wrapped where the host could not be reached, or was silent.
var errNoAnswer = errors.New("no answer")

const (
	maxBody    = 64 << 10 // of an answer: what is read so that the connection can be used again
	maxExcerpt = 200      // of it in an error
)

// post posts a message once. With an error comes how long the receiver asked to be left alone.
func (r *receiver) post(ctx context.Context, m broker.Message) (retryAfter time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, requestTime)
	defer cancel()
	request, err := r.request(ctx, m)
	if err != nil {
		return 0, broker.Refused(err)
	}
	// The transport by itself follows no redirect, and has no URL in its errors.
	response, err := r.transport.RoundTrip(request)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", errNoAnswer, err)
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(io.LimitReader(response.Body, maxBody)) // the status has said it all
	status := response.StatusCode
	if status >= 200 && status <= 299 {
		return 0, nil
	}
	err = fmt.Errorf("answered %d %s%s", status, http.StatusText(status), r.excerpt(body))
	switch {
	case status >= 300 && status <= 399:
		return 0, broker.Refused(fmt.Errorf("%w (redirects are not followed)", err))
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		return 0, err // a credential that was changed would set aside every event
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status == http.StatusTooManyRequests, status < 200, status >= 500:
		return retryAfterOf(response.Header.Get("Retry-After"), time.Now()), err
	default:
		return 0, broker.Refused(err)
	}
}

func (r *receiver) request(ctx context.Context, m broker.Message) (*http.Request, error) {
	target, err := r.target(m.Topic)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "", bytes.NewReader(m.Body))
	if err != nil {
		return nil, err
	}
	request.URL, request.Host = target, target.Host
	request.Header.Set("User-Agent", "prescient")
	if m.ContentType != "" {
		m.Headers = append([]broker.Header{{Name: "Content-Type", Value: m.ContentType}}, m.Headers...)
	}
	for _, h := range m.Headers {
		if err := checkHeader(h); err != nil {
			return nil, err
		}
		request.Header.Set(h.Name, h.Value)
	}
	if r.user != nil {
		password, _ := r.user.Password()
		request.SetBasicAuth(r.user.Username(), password)
	}
	id, now := broker.Printable(m.ID), time.Now()
	request.Header.Set(HeaderIdempotencyKey, id)
	request.Header.Set(standardwebhooks.HeaderWebhookID, id)
	request.Header.Set(standardwebhooks.HeaderWebhookTimestamp, strconv.FormatInt(now.Unix(), 10))
	if r.signer != nil {
		signature, err := r.signer.Sign(id, now, m.Body)
		if err != nil {
			return nil, fmt.Errorf("it cannot be signed: %w", err)
		}
		request.Header.Set(standardwebhooks.HeaderWebhookSignature, signature)
	}
	return request, nil
}

// place is where the topic stands in the path of the URL.
const place = "{topic}"

// takesTopic says whether each topic has a URL of its own.
func (r *receiver) takesTopic() bool { return strings.Contains(r.url.Path, place) }

// target returns the URL for a topic.
func (r *receiver) target(topic string) (*url.URL, error) {
	const escapedPlace = "%7Btopic%7D"
	u := *r.url
	if !r.takesTopic() {
		return &u, nil
	}
	if topic == "" || topic == "." || topic == ".." {
		return nil, fmt.Errorf("the topic %q cannot stand in a path", topic)
	}
	u.RawPath = strings.ReplaceAll(strings.ReplaceAll(r.url.EscapedPath(), escapedPlace, place), place, url.PathEscape(topic))
	u.Path = strings.ReplaceAll(r.url.Path, place, topic)
	return &u, nil
}

// checkHeader says what is wrong with a header: the transport would say it too, as of a network that fails.
func checkHeader(h broker.Header) error {
	token := func(c rune) bool {
		return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("!#$%&'*+-.^_`|~", c)
	}
	if h.Name == "" || strings.ContainsFunc(h.Name, func(c rune) bool { return !token(c) }) {
		return fmt.Errorf("the header %q has a name that HTTP does not know", h.Name)
	}
	if strings.ContainsFunc(h.Value, func(c rune) bool { return c < ' ' && c != '\t' || c == 0x7f }) {
		return errors.New("the header " + h.Name + " has a control character in its value")
	}
	return nil
}

// excerpt returns the beginning of a body, behind a colon, on one line.
func (r *receiver) excerpt(body []byte) string {
	text := strings.TrimSpace(r.hidden.Replace(strings.ToValidUTF8(string(body), "�")))
	if text == "" {
		return ""
	}
	return fmt.Sprintf(": %q", prescient.Shorten(text, maxExcerpt))
}

// retryAfterOf reads seconds or a date; 0 for anything else.
func retryAfterOf(text string, now time.Time) time.Duration {
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(text); err == nil {
		return max(0, at.Sub(now))
	}
	return 0
}
