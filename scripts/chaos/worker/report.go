package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"

	"prescient/scripts/chaos/checker"
)

// reporter tells the checker what happens here. It has a socket of its own, which no fault touches.
type reporter struct {
	client http.Client
	worker string
}

func newReporter(socket, worker string) *reporter {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}
	return &reporter{worker: worker, client: http.Client{Transport: &http.Transport{DialContext: dial, MaxIdleConnsPerHost: 100}}}
}

// note adds an event to the journal and returns the number of the call, once the checker has it. A worker that nobody
// watches proves nothing: it ends.
func (r *reporter) note(e checker.Event) (number int64) {
	e.Worker, e.Pid = r.worker, os.Getpid()
	body, err := json.Marshal(e)
	if err == nil {
		number, err = r.post(body)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "chaos worker: the checker does not answer:", err)
		os.Exit(3)
	}
	return number
}

func (r *reporter) post(body []byte) (number int64, err error) {
	answer, err := r.client.Post("http://checker/", "application/json", bytes.NewReader(body))
	if err != nil {
		return 0, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return 0, fmt.Errorf("status %s", answer.Status)
	}
	err = json.NewDecoder(answer.Body).Decode(&number)
	return number, err
}
