package rig

import (
	"bytes"
	"io"
	"net"
	"testing"
	"time"
)

// echo is a server that says what it hears.
func echo(t *testing.T) (address string) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				_, _ = io.Copy(c, c)
			}()
		}
	}()
	return listener.Addr().String()
}

func TestTheProxyPassesEverythingOnLater(t *testing.T) {
	for _, delay := range []time.Duration{0, 10 * time.Millisecond} {
		p, err := StartProxy(echo(t), delay)
		if err != nil {
			t.Fatal(err)
		}
		c, err := net.Dial("tcp", p.Address())
		if err != nil {
			t.Fatal(err)
		}
		sent := bytes.Repeat([]byte("0123456789"), 100_000)
		got := make([]byte, len(sent))
		started := time.Now()
		go c.Write(sent)
		if _, err := io.ReadFull(c, got); err != nil || !bytes.Equal(got, sent) {
			t.Fatalf("%v: %v, or not what was sent", delay, err)
		}
		if took := time.Since(started); took < 2*delay {
			t.Errorf("there and back took %v; want 2 × %v", took, delay)
		}
		if err := p.Close(); err != nil { // it ends with connections open
			t.Error(err)
		}
		if _, err := c.Read(got); err == nil {
			t.Error("the connection outlives the proxy")
		}
		c.Close()
	}
}
