package rig

import (
	"io"
	"net"
	"sync"
	"time"
)

// A Proxy passes on what goes to a server and comes back, later. It has no limit of throughput of its own: what was sent
// while it waits goes on its way, too.
type Proxy struct {
	listener net.Listener
	to       string
	delay    time.Duration // each way
	mu       sync.Mutex
	closed   bool
	open     map[net.Conn]bool
	all      sync.WaitGroup
}

// StartProxy starts a proxy that takes so long each way.
func StartProxy(to string, delay time.Duration) (*Proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{listener: listener, to: to, delay: delay, open: make(map[net.Conn]bool)}
	p.all.Go(p.accept)
	return p, nil
}

// Address is where it listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if err != nil {
			return // closed
		}
		server, err := net.Dial("tcp", p.to)
		if err != nil || !p.keep(client, server) {
			client.Close()
			continue
		}
		for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
			p.all.Go(func() {
				p.pass(way[0], way[1])
				client.Close()
				server.Close()
			})
		}
	}
}

// keep remembers connections to be closed at the end; it refuses them after that.
func (p *Proxy) keep(list ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range list {
		if p.closed {
			c.Close()
			continue
		}
		p.open[c] = true
	}
	return !p.closed
}

func (p *Proxy) pass(from io.Reader, to io.Writer) {
	type piece struct {
		data []byte
		at   time.Time
	}
	if p.delay == 0 {
		_, _ = io.Copy(to, from)
		return
	}
	way := make(chan piece, 10_000)
	p.all.Go(func() {
		broken := false
		for next := range way {
			time.Sleep(time.Until(next.at))
			if !broken {
				_, err := to.Write(next.data)
				broken = err != nil // what still comes has to be taken, so that the reader ends
			}
		}
	})
	defer close(way)
	for {
		data := make([]byte, 32<<10)
		n, err := from.Read(data)
		if n > 0 {
			way <- piece{data[:n], time.Now().Add(p.delay)}
		}
		if err != nil {
			return
		}
	}
}

// Close ends it with its connections.
func (p *Proxy) Close() error {
	err := p.listener.Close()
	p.mu.Lock()
	p.closed = true
	for c := range p.open {
		c.Close()
	}
	p.mu.Unlock()
	p.all.Wait()
	return err
}
