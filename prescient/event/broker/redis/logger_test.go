package redis

import (
	"bytes"
	"encoding/json"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient/event/broker"
)

// A log of JSON has lines of JSON alone, also where the client complains by itself.
func TestWhatTheClientSaysByItselfGoesIntoTheLog(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := l.Addr().String()
	l.Close() // nobody is there
	var mu sync.Mutex
	var log bytes.Buffer
	b, err := Open(t.Context(), broker.Options{URL: "redis://:s3cret@" + address, Log: zerolog.New(locked{&mu, &log})})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	if err := b.Publish(t.Context(), broker.Message{Topic: "orders", ID: "a"}); err == nil {
		t.Error("it was published to nobody")
	}
	said := ""
	for until := time.Now().Add(10 * time.Second); said == "" && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		mu.Lock()
		said = log.String()
		mu.Unlock()
	}
	for line := range strings.Lines(said) {
		var one map[string]any
		if err := json.Unmarshal([]byte(line), &one); err != nil || one["level"] != "debug" || strings.Contains(line, "s3cret") {
			t.Errorf("%q: %v", line, err)
		}
	}
	if !strings.Contains(said, `"message":"the client of Redis"`) {
		t.Errorf("the log has %q", said)
	}
}

// locked is a log of several goroutines.
type locked struct {
	mu *sync.Mutex
	to *bytes.Buffer
}

func (l locked) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.to.Write(p)
}
