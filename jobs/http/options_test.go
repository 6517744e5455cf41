package http

import (
	"errors"
	nethttp "net/http"
	"strings"
	"testing"

	"prescient/prescient"
)

func TestOptionsThatAreRefused(t *testing.T) {
	const secret = "s3cr3t"
	headers := func(pairs ...string) Options {
		options := Options{URL: "http://app/check", Headers: map[string]string{}}
		for i := 0; i < len(pairs); i += 2 {
			options.Headers[pairs[i]] = pairs[i+1]
		}
		return options
	}
	for _, test := range []struct {
		options Options
		want    string
	}{
		// the URL
		{Options{}, "URL is empty"},
		{Options{URL: "app.example/" + secret}, "no scheme"},
		{Options{URL: "//app.example/" + secret}, "no scheme"},
		{Options{URL: "/" + secret}, "no scheme"},
		{Options{URL: "app.example:80/" + secret}, "has the scheme"},
		{Options{URL: "ftp://app.example/" + secret}, `scheme "ftp"`},
		{Options{URL: "unix:///run/" + secret}, `scheme "unix"`},
		{Options{URL: "http:app/" + secret}, "no host"},
		{Options{URL: "http:///" + secret}, "no host"},
		{Options{URL: "http://:80/" + secret}, "no host"},
		{Options{URL: "http://app/#" + secret}, "fragment"},
		{Options{URL: "http://app/#"}, "fragment"},
		{Options{URL: "http://app:0/" + secret}, "port"},
		{Options{URL: "http://app:65536/" + secret}, "port"},
		{Options{URL: "http://user:" + secret + "/x@app/"}, "cannot be parsed"},
		{Options{URL: "http://user:" + secret + "@ho st/"}, "cannot be parsed"},
		{Options{URL: " http://app/" + secret}, "cannot be parsed"},
		{Options{URL: "http://app/%" + secret}, "cannot be parsed"},
		{Options{URL: "http://app/" + secret + "\n"}, "cannot be parsed"},
		{Options{URL: "http://[::1/" + secret}, "cannot be parsed"},

		// the headers
		{headers("", secret), "header name"},
		{headers("Authorization: Bearer "+secret, ""), `header name "Authorization"`},
		{headers("X-Tökn", secret), "header name"},
		{headers("Authorization", secret+"\r\nX-Other: 1"), "control character"},
		{headers("Authorization", secret+"\x7f"), "control character"},
		{headers("authorization", secret, "Authorization", secret), "given twice"},
		{headers("host", secret, "Host", secret), "given twice"},
		{headers("host", ""), "header Host is empty"},
		{headers("content-type", secret), "cannot be configured"},
		{headers("Content-Length", secret), "cannot be configured"},
		{headers("Transfer-Encoding", secret), "cannot be configured"},
		{headers("idempotency-key", secret), "cannot be configured"},
		{headers("x-prescient-signature", secret), "cannot be configured"},

		// the bound
		{Options{URL: "http://app/" + secret, MaxBody: -1}, "MaxBody -1"},
		{Options{URL: "http://app/" + secret, MaxBody: maxMaxBody + 1}, "MaxBody"},
	} {
		endpoint, err := New(test.options)
		switch {
		case err == nil || endpoint != nil:
			t.Errorf("%+v is accepted", test.options)
		case !errors.Is(err, prescient.ErrInvalid):
			t.Errorf("%v does not wrap ErrInvalid", err)
		case !strings.Contains(err.Error(), test.want):
			t.Errorf("%q, want %q in it", err, test.want)
		case strings.Contains(err.Error(), secret):
			t.Errorf("%q has the secret in it", err)
		}
	}
}

func TestOptionsThatAreAccepted(t *testing.T) {
	for _, test := range []struct {
		options Options
		want    string // String
	}{
		{Options{URL: "http://app"}, "http://app"},
		{Options{URL: "HTTPS://App.example:8443/checks?token=t0k3n"}, "https://App.example:8443"},
		{Options{URL: "https://user:pa55@[::1]:8443/"}, "https://[::1]:8443"},
		{Options{URL: "http://app/a%23b", MaxBody: maxMaxBody}, "http://app"},
		{Options{URL: "http://app", Headers: map[string]string{"Host": "other", "x-tab": "a\tb", "X-Empty": ""}}, "http://app"},
		{Options{URL: "http://app", Client: nethttp.DefaultClient}, "http://app"},
	} {
		endpoint, err := New(test.options)
		if err != nil {
			t.Errorf("%s: %v", test.options.URL, err)
			continue
		}
		if got := endpoint.String(); got != test.want {
			t.Errorf("%s is shown as %s, want %s", test.options.URL, got, test.want)
		}
		endpoint.CloseIdle()
	}
}

func TestGivenClientIsNotChanged(t *testing.T) {
	given := &nethttp.Client{}
	endpoint, err := New(Options{URL: "http://app", Client: given})
	if err != nil {
		t.Fatal(err)
	}
	if given.Transport != nil || endpoint.client == given {
		t.Error("the client that was given has another transport now")
	}
}
