package http

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	nethttp "net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"prescient/jobs/answer"
	"prescient/prescient"
)

// Check posts the job and returns the time that the receiver answered with, in UTC, or nil when it says that the
// matter is settled. It is a prescient.Func. The error says what went wrong; it wraps the cause of the context's end
// where that came before the status, or in the middle of a 200. After 410 it is prescient.Final; it has the prescient.Retry of a Retry-After.
func (e *Endpoint) Check(ctx context.Context, job prescient.FutureJob) (*time.Time, error) {
	request, err := e.request(ctx, job)
	if err != nil {
		return nil, e.failure(err)
	}
	started := time.Now()
	response, err := e.client.Do(request)
	if err != nil {
		return nil, e.failure(unanswered(ctx, err, time.Since(started)))
	}
	defer response.Body.Close()
	next, err := e.read(ctx, response, func() time.Time { return answer.CalledAt(job, started).Add(time.Since(started)) })
	if err != nil {
		return nil, e.failure(err)
	}
	return next, nil
}

func (e *Endpoint) request(ctx context.Context, job prescient.FutureJob) (*nethttp.Request, error) {
	body, err := json.Marshal(job)
	if err != nil {
		return nil, fmt.Errorf("the job cannot be written as JSON: %w", err)
	}
	request, err := nethttp.NewRequestWithContext(ctx, nethttp.MethodPost, e.url.String(), bytes.NewReader(body))
	if err != nil {
		return nil, fmt.Errorf("the call cannot be made: %s", withoutQuotes(err))
	}
	request.Header = e.headers.Clone()
	if e.host != "" {
		request.Host = e.host
	}
	request.Header.Set(JobExecHeader, job.JobExec)
	request.Header.Set(IdempotencyKeyHeader, job.IdempotencyKey())
	if trace := prescient.TraceOf(ctx); trace != "" {
		request.Header.Set("Traceparent", trace)
	}
	if len(e.secret) > 0 {
		request.Header.Set(SignatureHeader, Sign(e.secret, body, answer.CalledAt(job, time.Now())))
	}
	return request, nil
}

// unanswered says why there is no answer. The client's own text has the URL in it, so only what it wraps is used.
func unanswered(ctx context.Context, err error, elapsed time.Duration) error {
	var redirect *redirectError
	if errors.As(err, &redirect) {
		return redirect
	}
	if ctx.Err() != nil {
		return fmt.Errorf("no answer after %s: %w", elapsed.Round(time.Millisecond), context.Cause(ctx))
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return fmt.Errorf("no answer: %w", err)
}

// read makes the answer of the job_exec from the receiver's; now is asked once it was read.
func (e *Endpoint) read(ctx context.Context, response *nethttp.Response, now func() time.Time) (*time.Time, error) {
	switch response.StatusCode {
	case nethttp.StatusNoContent:
		return nil, nil
	case nethttp.StatusOK:
	case nethttp.StatusSwitchingProtocols: // its body is the bare connection, which does not end with the context
		return nil, fmt.Errorf("answered %s: want 200 or 204", statusText(response.StatusCode))
	default:
		return nil, e.refused(response, now)
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, e.maxBody+1))
	switch {
	case int64(len(body)) > e.maxBody:
		return nil, fmt.Errorf("answered 200 with more than %d bytes", e.maxBody)
	case err != nil && ctx.Err() != nil:
		return nil, fmt.Errorf("answered 200, and the body stopped after %d bytes: %w", len(body), context.Cause(ctx))
	case err != nil:
		return nil, fmt.Errorf("answered 200, and the body broke off after %d bytes: %w", len(body), err)
	}
	next, err := answer.Parse(body, now())
	if errors.Is(err, answer.ErrEmpty) {
		err = errors.New("an empty body: want 204, or null, when the matter is settled")
	}
	if err != nil {
		return nil, fmt.Errorf("answered 200 with %w", err)
	}
	return next, nil
}

// refused is the error of a status that is no answer: it is final where what was asked for is gone, and says when to try again where Retry-After does.
func (e *Endpoint) refused(response *nethttp.Response, now func() time.Time) error {
	body, _ := io.ReadAll(io.LimitReader(response.Body, e.maxBody))
	status, said, after := statusText(response.StatusCode), e.excerpt(body), response.Header.Get("Retry-After")
	in, understood := retryAfter(after, now())
	switch {
	case response.StatusCode == nethttp.StatusGone:
		return prescient.Final(fmt.Errorf("answered %s%s", status, said))
	case understood:
		return fmt.Errorf("answered %s, %w%s", status, prescient.Retry(in), said)
	case after != "":
		return fmt.Errorf("answered %s, with a Retry-After that is neither seconds nor a date of HTTP%s", status, said)
	}
	return fmt.Errorf("answered %s%s", status, said)
}

// retryAfter reads the header of that name at a time: seconds, or a date.
func retryAfter(text string, now time.Time) (in time.Duration, ok bool) {
	if text != "" && strings.Trim(text, "0123456789") == "" {
		seconds, _ := strconv.ParseInt(text, 10, 64) // the most where there are too many digits
		return time.Duration(min(seconds, math.MaxInt64/int64(time.Second))) * time.Second, true
	}
	at, err := nethttp.ParseTime(text)
	if err != nil {
		return 0, false
	}
	return at.Sub(now), true
}

// statusText is the status as the standard words it, whatever the receiver wrote there.
func statusText(status int) string {
	if text := nethttp.StatusText(status); text != "" {
		return strconv.Itoa(status) + " " + text
	}
	return strconv.Itoa(status)
}
