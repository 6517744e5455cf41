package wire

import (
	"context"
	"io"
	"net"
	"testing"
	"time"
)

// The checker asks whether a fault was between two calls of a row: a network that is split for a while is one for as long.
func TestAFaultIsToldWithHowLongItLasts(t *testing.T) {
	for _, test := range []struct {
		rules string
		what  string
		lasts time.Duration
	}{
		{`[{"Do": "split", "Wait": 30000000}]`, "split before", 30 * time.Millisecond},
		{`[{"Do": "delay", "Wait": 20000000}]`, "delay before", 20 * time.Millisecond},
		{`[{"Do": "drop"}]`, "drop before", 0},
	} {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		go func() {
			if server, err := listener.Accept(); err == nil {
				_, _ = io.Copy(io.Discard, server)
				server.Close()
			}
		}()
		plan, err := NewPlan(test.rules, 1)
		if err != nil {
			t.Fatal(err)
		}
		told := 0
		plan.Tell = func(what, statement string, lasts time.Duration) {
			told++
			if what != test.what || statement != "SELECT 1" || lasts != test.lasts {
				t.Errorf("%s: told of %q at %q for %s", test.rules, what, statement, lasts)
			}
		}
		conn, err := plan.Dial(context.Background(), listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write(packetOf(comQuery, "SELECT 1")) // a connection that is dropped fails
		conn.Close()
		if told != 1 {
			t.Errorf("%s: told %d times", test.rules, told)
		}
	}
}
