package api_test

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"prescient/prescient"
	"prescient/prescient/api"
	"prescient/prescient/internal/rig"
)

// exported fetches an export whole.
func (r *testRig) exported(role, path string) (reply, http.Header, error) {
	r.T.Helper()
	req, err := http.NewRequestWithContext(r.T.Context(), http.MethodGet, r.URL+path, nil)
	r.Must(err)
	req.Header.Set("Authorization", "Bearer "+role)
	resp, err := http.DefaultClient.Do(req)
	r.Must(err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	return reply{resp.StatusCode, resp.Header, string(text)}, resp.Trailer, err
}

// fill makes n checks pending, each of which has a payload of some bytes.
func (r *testRig) fill(n, bytes int) {
	r.T.Helper()
	for from := 0; from < n; from += 500 {
		var jobs []prescient.NewJob
		for i := from; i < min(from+500, n); i++ {
			jobs = append(jobs, prescient.NewJob{Entity: rig.Order(fmt.Sprint("=", i)), JobExec: "ship", DueAt: rig.At("13:01").Add(time.Duration(i) * time.Minute),
				Payload: []byte(`{"secret":"` + strings.Repeat("x", bytes) + `"}`)})
		}
		_, err := r.Client.InsertMany(r.T.Context(), r.AppAt(rig.At("10:00")), jobs)
		r.Must(err)
	}
}

func TestAnExportHasEachRowOnce(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.fill(503, 10)
		for _, role := range []string{"viewer", "operator"} {
			got, trailer, err := r.exported(role, "/checks/export_pending")
			r.Must(err)
			seen := make(map[string]bool)
			for line := range strings.Lines(got.Body) {
				var row prescient.FutureJob
				r.Must(json.Unmarshal([]byte(line), &row))
				seen[row.EntityKey] = true
				if sees := strings.Contains(string(row.Payload), "secret"); sees != (role == "operator") {
					t.Fatalf("%s: %s", role, line)
				}
			}
			if len(seen) != 503 || strings.Count(got.Body, "\n") != 503 || trailer.Get("Prescient-Rows") != "503" || got.Header.Get("Content-Type") != "application/jsonl" {
				t.Errorf("%d of 503, %v, %v", len(seen), trailer, got.Header)
			}
		}
		got, trailer, err := r.exported("viewer", "/checks/export_pending?format=csv&before=2026-11-20T14:00:00Z")
		r.Must(err)
		rows, err := csv.NewReader(strings.NewReader(got.Body)).ReadAll()
		r.Must(err)
		if len(rows) < 20 || trailer.Get("Prescient-Rows") != fmt.Sprint(len(rows)-1) || strings.Join(rows[0][:3], " ") != "entity_name entity_key job_exec" || !strings.HasPrefix(rows[1][1], "'=") || !strings.HasPrefix(rows[1][4], "2026-11-20T13:") {
			t.Errorf("%d, %v, %v", len(rows), trailer, rows[:2])
		}
		r.want(r.ask("operator", "/checks/cancel", `{"entity":"order/=7"}`), 200)
		got, trailer, err = r.exported("viewer", "/checks/export_ended?outcome=cancelled")
		r.Must(err)
		if strings.Count(got.Body, "\n") != 1 || !strings.Contains(got.Body, `"entity_key":"=7"`) || trailer.Get("Prescient-Rows") != "1" {
			t.Errorf("%+v, %v", got, trailer)
		}
		got, _, err = r.exported("viewer", "/checks/export_ended?format=csv&job_exec=none")
		r.Must(err)
		if strings.Count(got.Body, "\n") != 1 || !strings.Contains(got.Body, "outcome") {
			t.Errorf("%+v", got)
		}
		for path, says := range map[string]string{"/checks/export_pending?format=xml": "format", "/checks/export_pending?after=x": "cursor", "/checks/export_ended?outcome=perfect": "perfect",
			"/checks/export_pending?entity=a+b": "entity", "/checks/export_pending?limit=3": "limit"} {
			r.want(r.ask("viewer", path, ""), 422, says)
		}
	})
}

// A reader that goes holds nothing, and one that the database fails is told.
func TestAnExportEndsWithItsReaderOrIsCutOff(t *testing.T) {
	eachServer(t, func(t *testing.T, r *testRig) {
		r.fill(150, 100_000)
		for range 3 { // as many as a caller may have under way, and one more
			address := strings.TrimPrefix(strings.TrimSuffix(r.URL, api.Base), "http://")
			conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
			r.Must(err)
			_, err = fmt.Fprintf(conn, "GET %s/checks/export_pending HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer operator\r\n\r\n", api.Base)
			r.Must(err)
			line, err := bufio.NewReader(conn).ReadString('\n')
			if err != nil || !strings.Contains(line, "200") {
				t.Fatalf("%q, %v", line, err)
			}
			r.Must(conn.Close())
			for until := time.Now().Add(20 * time.Second); r.URL != ""; time.Sleep(50 * time.Millisecond) {
				got, _, err := r.exported("operator", "/checks/export_pending?entity=none")
				r.Must(err)
				if got.Code != 429 {
					break
				}
				if time.Now().After(until) {
					t.Fatal("the export of a reader that is gone goes on")
				}
			}
		}
		// What is cut off has no end, so that no client takes it for whole.
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.URL+"/checks/export_pending", nil)
		r.Must(err)
		req.Header.Set("Authorization", "Bearer operator")
		resp, err := http.DefaultClient.Do(req)
		r.Must(err)
		defer resp.Body.Close()
		body := bufio.NewReader(resp.Body)
		_, err = body.ReadString('\n')
		r.Must(err)
		r.Exec("RENAME TABLE p_future_job TO p_gone")
		defer r.Exec("RENAME TABLE p_gone TO p_future_job")
		rest, err := io.ReadAll(body)
		lines := strings.Split(strings.TrimSpace(string(rest)), "\n")
		if last := lines[len(lines)-1]; !errors.Is(err, io.ErrUnexpectedEOF) || !strings.Contains(last, `{"problem":{"type":"about:blank"`) || resp.Trailer.Get("Prescient-Rows") != "" {
			t.Errorf("%v, %.200s, %v", err, last, resp.Trailer)
		}
	})
}
