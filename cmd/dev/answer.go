package dev

import (
	"io"
	"net/http"
)

// answer is what a receiver answered to a call, for the line of it.
type answer struct {
	status int
	body   []byte // its beginning
}

// answerKey is where the context of a call has its answer.
type answerKey struct{}

// answered sees what receivers answer.
func answered(next http.RoundTripper) http.RoundTripper { return seeing{next} }

type seeing struct{ next http.RoundTripper }

// RoundTrip implements http.RoundTripper.
func (s seeing) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := s.next.RoundTrip(request)
	if got, is := request.Context().Value(answerKey{}).(*answer); is && err == nil {
		got.status = response.StatusCode
		response.Body = &seenBody{response.Body, got}
	}
	return response, err
}

// seenBody is a body of which what is read is kept, as far as it is shown.
type seenBody struct {
	io.ReadCloser
	of *answer
}

// Read implements io.Reader.
func (b *seenBody) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	if room := 4*longestSaid - len(b.of.body); room > 0 {
		b.of.body = append(b.of.body, into[:min(n, room)]...)
	}
	return n, err
}
