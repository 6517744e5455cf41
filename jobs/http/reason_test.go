package http

import (
	"encoding/json"
	"html"
	"io"
	nethttp "net/http"
	"net/http/httputil"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"
)

// A receiver in its debug mode shows everything it was sent.
func TestSecretsThatAReceiverEchoesAreHidden(t *testing.T) {
	const (
		bearer = `b34r"er`
		secret = "s3cr3t"
		path   = "p4th"
	)
	for about, echo := range map[string]func(w nethttp.ResponseWriter, text string){
		"error page":  func(w nethttp.ResponseWriter, text string) { nethttp.Error(w, text, 500) },
		"HTML page":   func(w nethttp.ResponseWriter, text string) { nethttp.Error(w, html.EscapeString(text), 500) },
		"JSON page":   func(w nethttp.ResponseWriter, text string) { w.WriteHeader(500); json.NewEncoder(w).Encode(text) },
		"answer":      func(w nethttp.ResponseWriter, text string) { io.WriteString(w, text) },
		"unknown key": func(w nethttp.ResponseWriter, text string) { json.NewEncoder(w).Encode(map[string]string{text: ""}) },
		"next_in": func(w nethttp.ResponseWriter, text string) {
			json.NewEncoder(w).Encode(map[string]string{"next_in": text})
		},
		"location": func(w nethttp.ResponseWriter, text string) { w.Header().Set("Location", "/"+text); w.WriteHeader(302) },
	} {
		for pad := range 60 { // wherever a text may be cut
			server := receiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
				dump, err := httputil.DumpRequest(r, false)
				if err != nil {
					t.Error(err)
				}
				echo(w, strings.Repeat("x", pad*6)+" "+string(dump)+secret+" "+r.URL.Query().Get("token"))
			})
			e := endpoint(t, Options{
				URL:     strings.Replace(server.URL, "//", "//user:pa55w%2Frd@", 1) + "/" + path + "?token=qu3ry+v%26lue",
				Headers: map[string]string{"X-Key": bearer, "Proxy-Authorization": "Bearer " + bearer},
				Secret:  []byte(secret),
			})
			_, err := e.Check(t.Context(), job)
			if err == nil {
				t.Fatal("no error")
			}
			for _, confidential := range []string{"b34r", "qu3ry", "pa55", "s3cr", path, "dXNlcjpwYTU1", "sha256="} {
				if strings.Contains(err.Error(), confidential) {
					t.Errorf("%s: %q in %s", about, confidential, err)
				}
			}
		}
	}
}

func TestErrorIsOneShortPrintableLine(t *testing.T) {
	for _, body := range []string{
		strings.Repeat("\x00\n", 10_000), strings.Repeat("é", 70_000), strings.Repeat("\"\\", 20_000),
		"\xf0\x28\x8c\x28", "\u2028\u2029\u200b\u202e", `{"` + strings.Repeat(`\u0000`, 9_000) + `": 1}`,
	} {
		for _, status := range []int{200, 500} {
			_, err := answering(t, status, body).Check(t.Context(), job)
			if err == nil {
				t.Fatalf("%.20q with status %d is accepted", body, status)
			}
			text := err.Error()
			if !utf8.ValidString(text) || utf8.RuneCountInString(text) > 500 || strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%.20q with status %d: %d bytes: %q", body, status, len(text), text)
			}
		}
	}
}

func TestShortWordsOfTheConfigurationAreNotHidden(t *testing.T) {
	server := receiver(t, func(w nethttp.ResponseWriter, r *nethttp.Request) { nethttp.Error(w, "no order 1 yet", 500) })
	e := endpoint(t, Options{URL: server.URL + "?v=1", Headers: map[string]string{"X-Version": "1"}})
	if _, err := e.Check(t.Context(), job); err == nil || !strings.HasSuffix(err.Error(), ": no order 1 yet") {
		t.Error(err)
	}
}
