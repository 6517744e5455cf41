package outbox

import (
	"context"
	"io"
	"net"
	"sync"
)

// cuttable is a way to a server that can be cut: what is on it is lost, and nobody can connect until it is up again.
type cuttable struct {
	address, server string

	mu       sync.Mutex
	listener net.Listener // nil while it is down
	ends     []net.Conn
}

func openCuttable(ctx context.Context, server string) (*cuttable, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	c := &cuttable{address: address, server: server}
	return c, c.up(ctx)
}

func (c *cuttable) up(ctx context.Context) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.address)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.listener = listener
	go func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return // it is down
			}
			go c.join(near)
		}
	}()
	return nil
}

// join carries what both sides say, until one of them has said all or the way is cut.
func (c *cuttable) join(near net.Conn) {
	defer near.Close()
	far, err := net.Dial("tcp", c.server)
	if err != nil {
		return
	}
	defer far.Close()
	c.mu.Lock()
	up := c.listener != nil
	c.ends = append(c.ends, near, far)
	c.mu.Unlock()
	if !up {
		return
	}
	done := make(chan struct{}, 2)
	carry := func(to, from net.Conn) {
		_, _ = io.Copy(to, from) // a cut is what this is for
		done <- struct{}{}
	}
	go carry(far, near)
	go carry(near, far)
	<-done
}

func (c *cuttable) down() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.listener != nil {
		_ = c.listener.Close()
	}
	for _, end := range c.ends {
		_ = end.Close() // many have ended before
	}
	c.listener, c.ends = nil, nil
}

// freeAddress is one that nobody listens at.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	defer l.Close()
	return l.Addr().String(), nil
}
