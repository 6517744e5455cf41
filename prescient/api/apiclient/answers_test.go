package apiclient_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"prescient/prescient/api/apiclient"
)

// answering is a client of a server that answers everything so.
func answering(t *testing.T, answer http.HandlerFunc) *apiclient.Client {
	t.Helper()
	server := httptest.NewServer(answer)
	t.Cleanup(server.Close)
	c, err := apiclient.New(server.URL+"/behind/", apiclient.Options{Token: "t"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestAnAddressThatIsNoneIsRefused(t *testing.T) {
	for _, address := range []string{"", "localhost:8484", "ftp://host", "https://", "https://ada:secret@host", "https://host?x=1", "https://host\x7f"} {
		if _, err := apiclient.New(address, apiclient.Options{}); err == nil || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v", address, err)
		}
	}
}

func TestARequestHasItsTokenAndWhatIsSaidOfIt(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/behind/api/v1/checks/cancel" || r.Header.Get("Authorization") != "Bearer t" || r.Header.Get("Idempotency-Key") != "k" ||
			r.Header.Get("Prescient-Reason") != "asked" || r.Header.Get("Content-Type") != "application/json" || string(body) != `{"entity":"order/42"}` {
			t.Errorf("%s %v %s", r.URL, r.Header, body)
		}
		_, _ = w.Write([]byte(`{"count":3}`))
	})
	got, err := c.ChecksCancel(t.Context(), apiclient.Cancelling{Entity: "order/42"}, apiclient.Key("k"), apiclient.Reason("asked"))
	if err != nil || got.Count != 3 {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAQueryHasWhatIsNotZero(t *testing.T) {
	c := answering(t, func(w http.ResponseWriter, r *http.Request) {
		if want := "crontab=0%2C30+%2A+%2A+%2A+%2A&crontab=1+2+%2A+%2A+%2A&from=2026-11-20T10%3A00%3A00Z"; r.URL.RawQuery != want && r.URL.Path == "/behind/api/v1/schedules/preview" {
			t.Errorf("%s, want %s", r.URL.RawQuery, want)
		}
		if want := "ends=0"; r.URL.RawQuery != want && r.URL.Path == "/behind/api/v1/attest/run" {
			t.Errorf("%s, want %s", r.URL.RawQuery, want)
		}
		if want := "only=rows%2Cslots"; r.URL.RawQuery != want && r.URL.Path == "/behind/api/v1/doctor/examine" {
			t.Errorf("%s, want %s", r.URL.RawQuery, want)
		}
		_, _ = w.Write([]byte(`{}`))
	})
	at := time.Date(2026, 11, 20, 11, 0, 0, 0, time.FixedZone("", 3600))
	_, first := c.SchedulesPreview(t.Context(), apiclient.SchedulesPreviewParams{Crontab: []string{"0,30 * * * *", "1 2 * * *"}, From: at})
	_, second := c.AttestRun(t.Context(), apiclient.AttestRunParams{Ends: new(int64)})
	_, third := c.DoctorExamine(t.Context(), apiclient.DoctorExamineParams{Only: []string{"rows", "slots"}})
	if err := errors.Join(first, second, third); err != nil {
		t.Error(err)
	}
}

func TestAnAnswerThatIsNoneIsAnError(t *testing.T) {
	var e *apiclient.Error
	c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		http.Error(w, "<html>"+strings.Repeat("x", 1000), http.StatusBadGateway)
	})
	_, err := c.PausesList(t.Context())
	if !errors.As(err, &e) || e.Status != 502 || e.Type != apiclient.ProblemTypeOther || e.RetryAfter != 7*time.Second || !strings.HasPrefix(e.Error(), "502 Bad Gateway: <html>x") || len(e.Error()) > 300 {
		t.Errorf("of a proxy: %#v", err)
	}
	c = answering(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/problem+json")
		w.WriteHeader(http.StatusUnprocessableEntity)
		_, _ = w.Write([]byte(`{"type":"urn:prescient:error:ErrInvalid","title":"invalid","status":422,"detail":"no","errors":[{"location":"body.x","message":"missing"}]}`))
	})
	_, err = c.PausesList(t.Context())
	if !errors.Is(err, apiclient.ProblemTypeErrInvalid) || errors.Is(err, apiclient.ProblemTypeErrNotFound) || err.Error() != "422 invalid: no; body.x: missing" {
		t.Errorf("a problem: %v", err)
	}
	c = answering(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(`<html>`)) })
	if _, err = c.PausesList(t.Context()); err == nil || !strings.Contains(err.Error(), "/api/v1/pauses/list") {
		t.Errorf("a page: %v", err)
	}
}

func TestAnExportThatIsNotWholeIsAnError(t *testing.T) {
	for _, test := range []struct {
		name, body, trailer string
		cut                 bool
		rows                int
		is                  error
	}{
		{"whole", "{\"job_exec\":\"a\"}\n{\"job_exec\":\"b\"}\n", "2", false, 2, nil},
		{"empty", "", "0", false, 0, nil},
		{"behind a proxy that drops trailers", "{}\n", "", false, 1, nil},
		{"given up", "{}\n{\"problem\":{\"type\":\"urn:prescient:error:ErrReslotting\",\"title\":\"reslotting\",\"status\":503}}\n", "", false, 1, apiclient.ProblemTypeErrReslotting},
		{"cut off", "{}\n", "", true, 1, io.ErrUnexpectedEOF},
		{"too short", "{}\n", "2", false, 1, io.ErrUnexpectedEOF},
		{"broken", "{}\n{\"job", "", false, 1, io.ErrUnexpectedEOF},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := answering(t, func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Trailer", "Prescient-Rows")
				_, _ = w.Write([]byte(test.body))
				_ = http.NewResponseController(w).Flush()
				if test.cut {
					panic(http.ErrAbortHandler)
				}
				if test.trailer != "" {
					w.Header().Set("Prescient-Rows", test.trailer)
				}
			})
			resp, err := c.ChecksExportEnded(t.Context(), apiclient.ChecksExportEndedParams{})
			if err != nil {
				t.Fatal(err)
			}
			rows := 0
			var last error
			for _, err := range apiclient.Rows[apiclient.Ended](resp) {
				if last = err; err == nil {
					rows++
				}
			}
			if rows != test.rows || !errors.Is(last, test.is) {
				t.Errorf("%d rows, then %v", rows, last)
			}
		})
	}
}
