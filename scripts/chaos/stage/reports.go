package stage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"prescient/scripts/chaos/checker"
)

// sockets is how many there were in this process.
var sockets atomic.Int64

// reports are what the workers say.
type reports struct {
	socket  string
	journal *checker.Journal
	frozen  time.Duration // how long a worker stays frozen
	calls   atomic.Int64
	log     func(format string, args ...any)
}

func newReports(journal *checker.Journal, log func(format string, args ...any)) *reports {
	// A name without a file: the path of one may be longer than a socket's may be.
	socket := fmt.Sprintf("@prescient-%d-%d", os.Getpid(), sockets.Add(1))
	return &reports{socket: socket, journal: journal, frozen: Lease + time.Second, log: log}
}

// listen takes the reports until ctx ends.
func (r *reports) listen(ctx context.Context) error {
	listener, err := net.Listen("unix", r.socket)
	if err != nil {
		return err
	}
	server := &http.Server{Handler: http.HandlerFunc(r.take)}
	go func() {
		<-ctx.Done()
		_ = server.Close()
	}()
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			r.log("the checker's socket: %v", err)
		}
	}()
	return nil
}

// take notes what a worker says. It has the answer only when the journal has it.
func (r *reports) take(w http.ResponseWriter, request *http.Request) {
	var e checker.Event
	if err := json.NewDecoder(request.Body).Decode(&e); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	switch e.Kind {
	case checker.Call, checker.Called:
		e.N = r.calls.Add(1)
	case checker.Fault:
		e.Took += aftermath
		if strings.HasPrefix(e.What, "freeze") {
			e.Took += r.frozen
			time.AfterFunc(r.frozen, func() { _ = syscall.Kill(e.Pid, syscall.SIGCONT) })
		}
	}
	r.journal.Note(e)
	_ = json.NewEncoder(w).Encode(e.N)
}

// aftermath is how long after a fault its victim may still have been at work.
const aftermath = 300 * time.Millisecond

// noteFault notes that something is about to be broken: for one worker, or for all where that is empty.
func noteFault(journal *checker.Journal, what, worker string, lasts time.Duration) {
	journal.Note(checker.Event{Kind: checker.Fault, What: what, Worker: worker, Took: lasts + aftermath})
}
