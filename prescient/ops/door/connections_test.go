package door

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
)

// from is a connection of which only the other end is known.
type from struct {
	net.Conn
	address string
}

func (f from) RemoteAddr() net.Addr { return f }
func (f from) Network() string      { return "tcp" }
func (f from) String() string       { return f.address }
func (f from) Close() error         { return nil }

// hall counts connections of a clock that goes on with each.
type hall struct {
	*Connections
	now time.Time
}

func newHall(most int) *hall {
	return &hall{NewConnections(nil, most, []netip.Prefix{netip.MustParsePrefix("10.0.0.7/32")}, NewCounts(), zerolog.Nop()), time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)}
}

func (h *hall) enters(address string) (next, last *counted) {
	h.now = h.now.Add(time.Second)
	return h.enter(from{address: address}, h.now)
}

// fills has each of some addresses open as many, and returns them.
func (h *hall) fills(each int, addresses ...string) (all []*counted) {
	for _, address := range addresses {
		for range each {
			next, _ := h.enters(address)
			all = append(all, next)
		}
	}
	return all
}

// closedBy is how many connections were closed for others, as Prometheus is told.
func closedBy(t *testing.T, counts *Counts) float64 {
	t.Helper()
	registry := prometheus.NewRegistry()
	registry.MustRegister(counts)
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		if family.GetName() == "prescient_serve_connections_closed_total" {
			return family.GetMetric()[0].GetCounter().GetValue()
		}
	}
	t.Fatal("nothing is told")
	return 0
}

func TestOneSiteHasAQuarterOfTheConnections(t *testing.T) {
	h := newHall(16)
	mine := h.fills(4, "192.0.2.1:1")
	for i := range 100 {
		next, last := h.enters("[::ffff:192.0.2.1]:2")
		if next == nil || last == nil || i < 4 && last != mine[i] {
			t.Fatalf("%d: %v, %v; want that the oldest goes", i, next, last)
		}
	}
	if closed := closedBy(t, h.counts); closed != 100 {
		t.Errorf("%v are counted as closed", closed)
	}
	if next, last := h.enters("192.0.2.2:1"); next == nil || last != nil || len(h.all) != 5 {
		t.Errorf("another: %v, %v, %d open", next, last, len(h.all))
	}
	if h.fills(8, "[2001:db8:1:1::1]:1", "[2001:db8:1:2::1]:1"); len(h.all) != 9 {
		t.Errorf("%d are open: a site of IPv6 is one", len(h.all))
	}
	if h.fills(7, "10.0.0.7:1"); len(h.all) != 16 {
		t.Errorf("%d are open: a proxy brings everybody", len(h.all))
	}
}

func TestWhereAllIsTakenWhoHasTheMostMakesPlace(t *testing.T) {
	h := newHall(8)
	h.fills(1, "192.0.2.1:1", "192.0.2.2:1", "192.0.2.3:1", "192.0.2.4:1", "192.0.2.5:1", "192.0.2.6:1")
	two := h.fills(2, "192.0.2.7:1")
	if next, last := h.enters("192.0.2.8:1"); next == nil || last != two[0] {
		t.Errorf("%v, %v", next, last)
	}
	// Now each has one.
	if next, last := h.enters("192.0.2.9:1"); next == nil || last == nil || last.address() != "192.0.2.1:1" {
		t.Errorf("%v, %v", next, last)
	}
	for one := range h.all {
		h.Changed(one, http.StateActive)
	}
	if next, last := h.enters("192.0.2.10:1"); next != nil || last != nil || len(h.all) != 8 {
		t.Errorf("%v, %v, %d: all have something under way", next, last, len(h.all))
	}
	for one := range h.all {
		_ = one.Close()
		_ = one.Close()
		break
	}
	if next, last := h.enters("192.0.2.10:1"); next == nil || last != nil {
		t.Errorf("%v, %v: one was closed", next, last)
	}
}

func (is *counted) address() string { return fmt.Sprint(is.RemoteAddr()) }

func TestWhatIsUnderWayIsSpared(t *testing.T) {
	h := newHall(16)
	mine := h.fills(4, "192.0.2.1:1")
	for i, state := range []http.ConnState{http.StateActive, http.StateActive, http.StateIdle, http.StateActive} {
		h.Changed(mine[i], state)
		mine[i].since = h.now.Add(time.Duration(i) * time.Millisecond)
	}
	if _, last := h.enters("192.0.2.1:2"); last != mine[2] {
		t.Errorf("%v goes; want the one that has nothing under way", last)
	}
	for one := range h.all {
		one.busy = true
	}
	if _, last := h.enters("192.0.2.1:3"); last != mine[0] {
		t.Errorf("%v goes; want the one whose request is the oldest", last)
	}
}
