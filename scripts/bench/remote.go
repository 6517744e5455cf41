package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"
	"time"

	"prescient/prescient/worker"
)

var remoteSection = section{
	name: "remote",
	about: "slot runs with 1 ms and 5 ms of round trip between worker and server, by a proxy, beside the same proxy without and no proxy; and " +
		"with as many buckets at a time as where the server is near",
	run: func(ctx context.Context, b *bench, s *server) error {
		list := []contestant{slotRunOf("prescient, ends, no proxy", "one")}
		for _, trip := range []time.Duration{0, time.Millisecond, 5 * time.Millisecond} {
			for _, form := range []string{"one", "batch", "tx"} {
				list = append(list, runAway(fmt.Sprintf("prescient, ends, %s handler, %v away", form, trip), trip, workload{Form: form}))
			}
			if trip > 0 {
				list = append(list, runAway(fmt.Sprintf("prescient, ends, one handler, %v away, %d buckets at a time", trip, worker.DefaultBuckets),
					trip, workload{Form: "one", Buckets: worker.DefaultBuckets}))
			}
		}
		return b.onStage(ctx, s, "remote", list)
	},
}

// runAway is a slot run with a round trip to the server.
func runAway(name string, trip time.Duration, l workload) contestant {
	return contestant{name: name, ends: all, do: func(ctx context.Context, st *stage) error {
		proxy, err := startProxy(st.config.Addr, trip/2)
		if err != nil {
			return err
		}
		away := *st
		server := *st.server
		server.config = st.config.Clone()
		server.config.Net, server.config.Addr = "tcp", proxy.address()
		away.place = &place{server: &server, name: st.name, app: st.app, db: st.db, client: st.client}
		return errors.Join(away.runSlot(ctx, l, 1), proxy.close())
	}}
}

// proxy passes on what goes to a server and comes back, later. It has no limit of throughput of its own: what was sent
// while it waits goes on its way, too.
type proxy struct {
	listener net.Listener
	to       string
	delay    time.Duration // each way
	mu       sync.Mutex
	closed   bool
	open     map[net.Conn]bool
	all      sync.WaitGroup
}

func startProxy(to string, delay time.Duration) (*proxy, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, to: to, delay: delay, open: make(map[net.Conn]bool)}
	p.all.Go(p.accept)
	return p, nil
}

func (p *proxy) address() string { return p.listener.Addr().String() }

func (p *proxy) accept() {
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
func (p *proxy) keep(list ...net.Conn) bool {
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

func (p *proxy) pass(from io.Reader, to io.Writer) {
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

func (p *proxy) close() error {
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
