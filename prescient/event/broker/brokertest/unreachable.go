package brokertest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient/event/broker"
)

// NamesWhatIsNotThere holds a broker to errors that say that its server does not answer. scheme is what its URLs begin with.
func NamesWhatIsNotThere(t *testing.T, open broker.Open, scheme string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := listener.Addr().String()
	listener.Close()
	s := Site{Open: open, Options: broker.Options{URL: scheme + "://" + address}, Topic: "t"}
	b := s.Connect(t)
	for began := time.Now(); time.Since(began) < Patience; time.Sleep(20 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		err = b.Publish(ctx, s.Message("1", "k", []byte("x")))
		cancel()
		if err == nil || errors.Is(err, broker.ErrRefused) {
			t.Fatalf("%v", err)
		}
		if strings.Contains(err.Error(), "connection refused") {
			return
		}
	}
	t.Errorf("%v", err)
}

// HidesAWrongPassword holds a broker to a site whose URL has a wrong password: that is no refusal, since another may come, and it stands in
// no error and no line of the log.
func HidesAWrongPassword(t *testing.T, s Site) {
	t.Helper()
	var written Log
	s.Options.Log = zerolog.New(&written)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	err := s.Connect(t).Publish(ctx, s.Message("a", "k", nil))
	if err == nil || errors.Is(err, broker.ErrRefused) {
		t.Errorf("%v", err)
	}
	s.Hides(t, fmt.Sprint(err, &written))
}
