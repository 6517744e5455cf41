package http_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"time"

	"prescient/jobs/http"
	"prescient/prescient"
)

// A receiver that is written in Go: it verifies the signature over the bytes that came in, then answers.
func Example() {
	secret := []byte("from the environment, say")

	receiver := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, err := io.ReadAll(nethttp.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil || !http.Verify(secret, body, r.Header.Get(http.SignatureHeader), time.Now(), http.Tolerance) {
			nethttp.Error(w, "the signature is not that of the body", nethttp.StatusUnauthorized)
			return
		}
		var job prescient.FutureJob
		if err := json.Unmarshal(body, &job); err != nil {
			nethttp.Error(w, err.Error(), nethttp.StatusBadRequest)
			return
		}
		if job.EntityKey == "42" { // shipped
			w.WriteHeader(nethttp.StatusNoContent)
			return
		}
		next := job.DueAt.Add(3 * time.Hour)
		json.NewEncoder(w).Encode(map[string]time.Time{"next_check_at": next})
	}))
	defer receiver.Close()

	endpoint, err := http.New(http.Options{URL: receiver.URL, Secret: secret})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return
	}
	defer endpoint.CloseIdle()

	// In a program: registry.Register("order-unshipped", endpoint.Check, prescient.Guards{Timeout: 10 * time.Second})
	for _, key := range []string{"42", "43"} {
		next, err := endpoint.Check(context.Background(), prescient.FutureJob{
			EntityName: "order", EntityKey: key, JobExec: "order-unshipped",
			DueAt: time.Date(2026, 3, 1, 13, 0, 0, 0, time.UTC),
		})
		fmt.Println(key, next, err)
	}
	// Output:
	// 42 <nil> <nil>
	// 43 2026-03-01 16:00:00 +0000 UTC <nil>
}
