package wire

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"time"
)

// Dial returns a dial function for the driver. The address is that of the server.
func (p *Plan) Dial(ctx context.Context, address string) (net.Conn, error) {
	if !p.whenWhole(ctx.Done()) {
		return nil, ctx.Err()
	}
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: raw, plan: p, closed: make(chan struct{})}, nil
}

// Commands of the protocol that carry the text of a statement.
const (
	comQuery   = 0x03
	comPrepare = 0x16
)

// conn is a connection of the driver. The driver writes a packet at a time, and waits for its answer.
type conn struct {
	net.Conn
	plan   *Plan
	closed chan struct{}
	once   sync.Once

	statement string  // the last one
	after     []*Rule // to be carried out when its answer comes
	answer    []byte  // what to answer in the server's place
	kept      []byte  // a packet that waits for the COMMIT
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

var errCut = errors.New("the connection was cut on purpose")

// SyscallConn lets the driver see that the server has closed the connection, as it does on a plain one.
func (c *conn) SyscallConn() (syscall.RawConn, error) {
	return c.Conn.(syscall.Conn).SyscallConn()
}

// Write implements net.Conn.
func (c *conn) Write(packet []byte) (int, error) {
	if len(packet) < 5 || packet[3] != 0 || packet[4] != comQuery && packet[4] != comPrepare || length(packet) != len(packet)-4 {
		return c.Conn.Write(packet)
	}
	c.statement, c.after = string(packet[5:]), nil
	send := packet
	for _, r := range c.plan.due(c.statement) {
		if r.After {
			c.after = append(c.after, r)
			continue
		}
		switch r.Do {
		case Rewrite:
			send = packetOf(send[4], r.from.ReplaceAllString(string(send[5:]), r.To))
		case Prepend:
			if err := c.roundTrip(packetOf(comQuery, r.from.ReplaceAllString(c.statement, r.To))); err != nil {
				return 0, err
			}
		case Refuse:
			c.tell(r)
			return len(packet), c.refuse(r.Code)
		case Swap:
			c.kept = bytes.Clone(send)
			c.answer = okPacket(bytes.Count(send, []byte("),(")) + 1)
			return len(packet), nil
		default:
			if err := c.carryOut(r); err != nil {
				return 0, err
			}
		}
	}
	if !c.plan.whenWhole(c.closed) {
		return 0, net.ErrClosed
	}
	if c.statement == "COMMIT" && c.kept != nil {
		return len(packet), c.commitThenKept(send)
	}
	if _, err := c.Conn.Write(send); err != nil {
		return 0, err
	}
	return len(packet), nil
}

// Read implements net.Conn.
func (c *conn) Read(to []byte) (int, error) {
	if len(c.answer) > 0 {
		n := copy(to, c.answer)
		c.answer = c.answer[n:]
		return n, nil
	}
	n, err := c.Conn.Read(to)
	if err != nil {
		return n, err
	}
	after := c.after
	c.after = nil
	for _, r := range after {
		if err := c.carryOut(r); err != nil {
			return 0, err
		}
	}
	if !c.plan.whenWhole(c.closed) {
		return 0, net.ErrClosed
	}
	return n, nil
}

// carryOut does what a rule says, here.
func (c *conn) carryOut(r *Rule) error {
	c.tell(r)
	switch r.Do {
	case Kill:
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case Freeze:
		if err := syscall.Kill(os.Getpid(), syscall.SIGSTOP); err != nil {
			return err
		}
		// The signal reaches the other threads a moment later.
		time.Sleep(20 * time.Millisecond)
	case Drop:
		return errors.Join(errCut, c.Close())
	case Split:
		c.plan.split(r.Wait)
	case Delay:
		select {
		case <-time.After(r.Wait):
		case <-c.closed: // whoever gave up waiting is told at once, as by a network
			return net.ErrClosed
		}
	}
	return nil
}

func (c *conn) tell(r *Rule) {
	when := "before"
	if r.After {
		when = "after"
	}
	what := fmt.Sprintf("%s %s", r.Do, when)
	if r.In != "" {
		what += " in " + r.In
	}
	c.plan.Tell(what, c.statement, r.lasts())
}

// refuse answers with an error. A server that reports a deadlock, or refuses a COMMIT, has rolled the transaction back.
func (c *conn) refuse(code uint16) error {
	if code == 1213 || c.statement == "COMMIT" {
		if err := c.roundTrip(packetOf(comQuery, "ROLLBACK")); err != nil {
			return err
		}
	}
	c.answer = errPacket(code)
	return nil
}

// commitThenKept commits, and only then sends what was kept back, as a transaction of its own.
func (c *conn) commitThenKept(commit []byte) error {
	kept := c.kept
	c.kept = nil
	if err := c.roundTrip(commit); err != nil {
		return err
	}
	for _, r := range c.plan.due(BetweenCommitAndKept) {
		if err := c.carryOut(r); err != nil {
			return err
		}
	}
	if err := c.roundTrip(kept); err != nil {
		return err
	}
	c.answer = okPacket(0)
	return nil
}

// roundTrip sends a packet and reads the one that answers it.
func (c *conn) roundTrip(packet []byte) error {
	if _, err := c.Conn.Write(packet); err != nil {
		return err
	}
	header := make([]byte, 4)
	if _, err := io.ReadFull(c.Conn, header); err != nil {
		return err
	}
	_, err := io.CopyN(io.Discard, c.Conn, int64(length(header)))
	return err
}

func length(packet []byte) int { return int(packet[0]) | int(packet[1])<<8 | int(packet[2])<<16 }

// packetOf is the first packet of an exchange.
func packetOf(command byte, text string) []byte { return numbered(0, append([]byte{command}, text...)) }

// okPacket is the answer to a statement that changed so many rows, in a transaction.
func okPacket(rows int) []byte {
	body := []byte{0}
	if rows < 251 {
		body = append(body, byte(rows))
	} else {
		body = binary.LittleEndian.AppendUint16(append(body, 0xfc), uint16(rows))
	}
	return numbered(1, append(body, 0, 3, 0, 0, 0))
}

func errPacket(code uint16) []byte {
	body := binary.LittleEndian.AppendUint16([]byte{0xff}, code)
	return numbered(1, append(body, "#HY000refused on purpose"...))
}

func numbered(number byte, body []byte) []byte {
	n := len(body)
	return append([]byte{byte(n), byte(n >> 8), byte(n >> 16), number}, body...)
}
