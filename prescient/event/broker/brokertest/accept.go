package brokertest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/prescient/event/broker"
)

// Accept holds a broker to what it promises, each test on a site of its own.
func Accept(t *testing.T, site func(t *testing.T) Site) {
	for name, test := range map[string]func(t *testing.T, s Site){
		"byte for byte":           arrivesByteForByte,
		"at the same time":        arrivesAtTheSameTime,
		"refused":                 refuses,
		"frozen":                  endsWithItsContext,
		"stopped":                 publishesAgainAfterARestart,
		"opened while it is down": opensWhileItIsDown,
		"closed":                  failsOnceClosed,
	} {
		t.Run(name, func(t *testing.T) { test(t, site(t)) })
	}
}

// An acknowledged message has arrived once, with its id, its key and its body as it is.
func arrivesByteForByte(t *testing.T, s Site) {
	b := s.Connect(t)
	bodies := map[string][]byte{
		"json-1":                      []byte(`{"total":"12,50 €"}`),
		"binary-1":                    {0xff, 0xfe, 0, '\r', '\n', 0x80},
		"empty-1":                     {},
		"large-1":                     bytes.Repeat([]byte("0123456789abcdef"), 8<<10),
		"daily-report-1772355600":     []byte("null"),
		"a b/c?d=e&f#g,h;i:j\"k\\l~1": []byte("odd id"),
	}
	for id, body := range bodies {
		Publish(t, b, s.Message(id, "ключ "+id, body))
	}
	arrived := s.Arrived(t, len(bodies))
	if len(arrived) != len(bodies) {
		t.Errorf("%d messages have arrived, want %d", len(arrived), len(bodies))
	}
	for _, m := range arrived {
		body, ours := bodies[m.ID]
		if !ours {
			t.Errorf("a message %q has arrived", m.ID)
			continue
		}
		delete(bodies, m.ID)
		if m.Key != "ключ "+m.ID || !bytes.Equal(m.Body, body) || m.ContentType != "application/json" {
			t.Errorf("%s has arrived with the key %q, the type %q and %d bytes: %.40q", m.ID, m.Key, m.ContentType, len(m.Body), m.Body)
		}
		for _, want := range s.Message(m.ID, m.Key, nil).Headers {
			if !has(m.Headers, want) {
				t.Errorf("%s has arrived without %v, with %v", m.ID, want, m.Headers)
			}
		}
	}
}

// has says whether a header is there; HTTP does not keep the case of its name.
func has(headers []broker.Header, want broker.Header) bool {
	return slices.ContainsFunc(headers, func(h broker.Header) bool { return strings.EqualFold(h.Name, want.Name) && h.Value == want.Value })
}

func arrivesAtTheSameTime(t *testing.T, s Site) {
	const n = 256
	b := s.Connect(t)
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := within(t, b, s.Message(fmt.Sprint("m", i), fmt.Sprint("k", i), []byte("{}")), Patience); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	seen := make(map[string]bool)
	for _, m := range s.Arrived(t, n) {
		if seen[m.ID] {
			t.Errorf("%s has arrived twice", m.ID)
		}
		seen[m.ID] = true
	}
	if len(seen) != n {
		t.Errorf("%d messages have arrived, want %d", len(seen), n)
	}
}

// What is refused for good says so, and holds up nothing else.
func refuses(t *testing.T, s Site) {
	b := s.Connect(t)
	for why, m := range s.Refused {
		err := within(t, b, m, Patience)
		if !errors.Is(err, broker.ErrRefused) {
			t.Errorf("%s: %v, want ErrRefused", why, err)
		}
		s.Hides(t, err)
		Publish(t, b, s.Message("after "+why, "k", []byte("{}")))
	}
	if got := s.Arrived(t, len(s.Refused)); len(got) != len(s.Refused) {
		t.Errorf("%d messages have arrived, want %d", len(got), len(s.Refused))
	}
}

func endsWithItsContext(t *testing.T, s Site) {
	if s.Freeze == nil {
		return
	}
	b := s.Connect(t)
	Publish(t, b, s.Message("before", "k", []byte("{}")))
	s.Freeze()
	thaw := sync.OnceFunc(s.Thaw)
	t.Cleanup(thaw)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			err := within(t, b, s.Message(fmt.Sprint("frozen", i), "k", []byte("{}")), 300*time.Millisecond)
			if err == nil || errors.Is(err, broker.ErrRefused) {
				t.Errorf("a frozen server: %v", err)
			}
		})
	}
	all.Wait()
	thaw()
	publishAtLast(t, b, s.Message("after", "k", []byte("{}")))
	found(t, s, "before", "after")
}

func publishesAgainAfterARestart(t *testing.T, s Site) {
	if s.Stop == nil {
		return
	}
	var written Log
	s.Options.Log = zerolog.New(&written)
	b := s.Connect(t)
	Publish(t, b, s.Message("before", "k", []byte("{}")))
	s.Stop()
	for range 3 {
		err := within(t, b, s.Message("while", "k", []byte("{}")), 300*time.Millisecond)
		if err == nil || errors.Is(err, broker.ErrRefused) {
			t.Errorf("a stopped server: %v", err)
		}
		s.Hides(t, err)
	}
	s.Start()
	publishAtLast(t, b, s.Message("after", "k", []byte("{}")))
	found(t, s, "before", "after")
	s.Hides(t, &written)
}

func opensWhileItIsDown(t *testing.T, s Site) {
	if s.Stop == nil {
		return
	}
	var written Log
	s.Options.Log = zerolog.New(&written)
	s.Stop()
	started := time.Now()
	b := s.Connect(t)
	if took := time.Since(started); took > 5*time.Second {
		t.Errorf("Open took %s while the server was down", took)
	}
	err := within(t, b, s.Message("while", "k", []byte("{}")), 300*time.Millisecond)
	if err == nil || errors.Is(err, broker.ErrRefused) {
		t.Errorf("a stopped server: %v", err)
	}
	s.Hides(t, err)
	s.Start()
	publishAtLast(t, b, s.Message("after", "k", []byte("{}")))
	found(t, s, "after")
	s.Hides(t, &written)
}

// found says that these messages have arrived, and may have come with others.
func found(t *testing.T, s Site, ids ...string) {
	t.Helper()
	seen := make(map[string]bool)
	for _, m := range s.Arrived(t, len(ids)) {
		seen[m.ID] = true
	}
	for _, id := range ids {
		if !seen[id] {
			t.Errorf("%s has not arrived; there are %v", id, seen)
		}
	}
}

func failsOnceClosed(t *testing.T, s Site) {
	b := s.Connect(t)
	Publish(t, b, s.Message("before", "k", []byte("{}")))
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := within(t, b, s.Message("after", "k", []byte("{}")), 2*time.Second); err == nil || errors.Is(err, broker.ErrRefused) {
		t.Errorf("a closed broker: %v", err)
	}
}
