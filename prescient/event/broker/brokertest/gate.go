package brokertest

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Gate lets through what clients send to a server, or holds it.
type Gate struct {
	mu   sync.Mutex
	open chan struct{} // closed while the gate is open
	cut  bool
	ends []net.Conn // of the proxies
}

// NewGate returns a gate that is open.
func NewGate() *Gate {
	g := &Gate{open: make(chan struct{})}
	close(g.open)
	return g
}

// Freeze holds what comes from now on.
func (g *Gate) Freeze() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.open = make(chan struct{})
}

// Thaw lets everything through again.
func (g *Gate) Thaw() {
	g.mu.Lock()
	defer g.mu.Unlock()
	close(g.open)
}

// Cut closes the connections of the gate's proxies, which take none until Join.
func (g *Gate) Cut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cut = true
	for _, c := range g.ends {
		c.Close()
	}
	g.ends = nil
}

// Join has proxies take connections again.
func (g *Gate) Join() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.cut = false
}

// keep returns false where the gate is cut.
func (g *Gate) keep(ends ...net.Conn) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.cut {
		g.ends = append(g.ends, ends...)
	}
	return !g.cut
}

// wait returns false where the gate stays shut until done.
func (g *Gate) wait(done <-chan struct{}) bool {
	g.mu.Lock()
	open := g.open
	g.mu.Unlock()
	select {
	case <-open:
		return true
	case <-done:
		return false
	}
}

// Listener returns one whose connections go through the gate.
func (g *Gate) Listener(l net.Listener) net.Listener { return gated{l, g} }

type gated struct {
	net.Listener
	gate *Gate
}

// Accept implements net.Listener.
func (l gated) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, gate: l.gate, closed: make(chan struct{})}, nil
}

type conn struct {
	net.Conn
	gate   *Gate
	once   sync.Once
	closed chan struct{}
}

// Read implements net.Conn.
func (c *conn) Read(to []byte) (int, error) {
	n, err := c.Conn.Read(to)
	if !c.gate.wait(c.closed) {
		return 0, net.ErrClosed
	}
	return n, err
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

// Proxy listens until the end of the test, and hands what comes through the gate to the server at an address, which need not be
// there yet. It returns its own address.
func (g *Gate) Proxy(t *testing.T, server string) string {
	t.Helper()
	raw, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := g.Listener(raw)
	var all sync.WaitGroup
	all.Go(func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			far, err := net.Dial("tcp", server)
			if err != nil {
				client.Close()
				continue
			}
			if !g.keep(client, far) {
				client.Close()
				far.Close()
				continue
			}
			for _, pair := range [][2]net.Conn{{client, far}, {far, client}} {
				all.Go(func() {
					_, _ = io.Copy(pair[0], pair[1]) // an end is an end, whatever the reason
					pair[0].Close()
					pair[1].Close()
				})
			}
		}
	})
	t.Cleanup(func() {
		l.Close()
		g.Cut()
		all.Wait()
	})
	return raw.Addr().String()
}
