package web

import (
	"crypto/tls"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rs/zerolog"
)

// by is a client at an address of this machine that connects anew for each request.
func by(address string) *http.Client {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(address)}}
	return &http.Client{Transport: &http.Transport{DialContext: d.DialContext, DisableKeepAlives: true}, Timeout: 10 * time.Second}
}

// Somebody with more connections than there may be, who makes each anew that is closed, keeps nobody out: neither at another address nor at his own.
func TestWhoHoldsConnectionsKeepsNobodyOut(t *testing.T) {
	t.Parallel()
	l := startServer(t, time.Second, nil, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "in") })
	stop := make(chan struct{})
	var all sync.WaitGroup
	defer all.Wait()
	defer close(stop)
	var held atomic.Int64
	for i := range 48 {
		d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(10+i%6))}}
		all.Go(func() {
			for {
				conn, err := d.Dial("tcp", l.address)
				if err == nil {
					held.Add(1)
					_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
					_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond))
					_, _ = conn.Read(make([]byte, 1)) // it is closed, or held for so long
					defer conn.Close()
				}
				select {
				case <-stop:
					return
				default:
				}
			}
		})
	}
	for until := time.Now().Add(10 * time.Second); held.Load() < 48 && time.Now().Before(until); {
		time.Sleep(10 * time.Millisecond)
	}
	for _, address := range []string{"127.0.0.1", "127.0.0.10"} {
		for i := range 20 {
			var last error
			for until := time.Now().Add(10 * time.Second); time.Now().Before(until); { // a newcomer from an address that dials on and on may be let go, too
				response, err := by(address).Get("http://" + l.address)
				if last = err; err == nil {
					_ = response.Body.Close()
					break
				}
			}
			if last != nil {
				t.Fatalf("%s, %d: %v", address, i, last)
			}
		}
	}
}

func TestAClientThatIsSlowIsLetGo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pair(t, "x", certFile, keyFile)
	cert, err := readCertificate(certFile, keyFile, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	unread := make(chan error, 1)
	handler := func(w http.ResponseWriter, r *http.Request) {
		_, err := io.Copy(io.Discard, r.Body)
		if r.URL.Path == "/endless" {
			for err == nil {
				_, err = w.Write(make([]byte, 64<<10))
			}
			unread <- err
		}
	}
	short := patience{header: 200 * time.Millisecond, body: 300 * time.Millisecond, answer: 400 * time.Millisecond, idle: 200 * time.Millisecond}
	plain, secure := startPatient(t, time.Second, nil, handler, short), startPatient(t, time.Second, cert, handler, short)
	for what, test := range map[string]struct {
		of   *listening
		says string
		left bool // it is left unread
	}{
		"sends nothing":     {of: plain},
		"does not greet":    {of: secure},
		"half a greeting":   {of: secure, says: "\x16\x03\x01\x02\x00"},
		"half a header":     {of: plain, says: "GET / HTTP/1.1\r\nHost: x\r\nX: "},
		"half a body":       {of: plain, says: "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx"},
		"nothing more":      {of: plain, says: "GET / HTTP/1.1\r\nHost: x\r\n\r\n"},
		"leaves the answer": {of: plain, says: "GET /endless HTTP/1.1\r\nHost: x\r\n\r\n", left: true},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			conn, err := net.Dial("tcp", test.of.address)
			if err != nil {
				t.Fatal(err)
			}
			defer conn.Close()
			_, _ = io.WriteString(conn, test.says)
			if test.left {
				<-unread
			}
			_ = conn.SetReadDeadline(time.Now().Add(20 * time.Second))
			if _, err := io.Copy(io.Discard, conn); err != nil && strings.Contains(err.Error(), "timeout") {
				t.Error("it is not let go")
			}
		})
	}
}

// frames speak HTTP/2 as no client would.
type frames struct {
	*tls.Conn
	t *testing.T
}

func dialFrames(t *testing.T, address string) frames {
	t.Helper()
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	f := frames{conn, t}
	if _, err := io.WriteString(conn, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	_ = f.send(4, 0, 0, nil)
	return f
}

func (f frames) send(kind, flags byte, stream uint32, payload []byte) error {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(payload))<<8|uint32(kind))
	head = binary.BigEndian.AppendUint32(append(head, flags), stream)
	_, err := f.Write(append(head, payload...))
	return err
}

// read returns the next frame.
func (f frames) read() (kind byte, payload []byte, err error) {
	head := make([]byte, 9)
	if _, err = io.ReadFull(f, head); err != nil {
		return 0, nil, err
	}
	payload = make([]byte, binary.BigEndian.Uint32(head)>>8)
	_, err = io.ReadFull(f, payload)
	return head[3], payload, err
}

// refused reads until the connection is given up, and says by which code.
func (f frames) refused() string {
	for {
		kind, payload, err := f.read()
		if err != nil {
			if strings.Contains(err.Error(), "timeout") {
				f.t.Error("the connection is not given up")
			}
			return err.Error()
		}
		if kind == 7 && len(payload) >= 8 {
			return fmt.Sprint("code ", binary.BigEndian.Uint32(payload[4:]))
		}
	}
}

func TestOneConnectionOfHTTP2TakesNoMoreThanItMay(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	pair(t, "x", certFile, keyFile)
	cert, err := readCertificate(certFile, keyFile, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	goOn := make(chan struct{})
	var running, most atomic.Int64
	l := startServer(t, time.Second, cert, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/good" {
			return
		}
		n := running.Add(1)
		for last := most.Load(); n > last && !most.CompareAndSwap(last, n); last = most.Load() {
		}
		<-goOn // what was reset goes on for as long as it takes
		running.Add(-1)
	})
	defer close(goOn)

	f := dialFrames(t, l.address)
	kind, payload, err := f.read()
	if kind != 4 || err != nil {
		t.Fatalf("frame %d, %v; want the settings", kind, err)
	}
	settings := make(map[uint16]uint32)
	for ; len(payload) >= 6; payload = payload[6:] {
		settings[binary.BigEndian.Uint16(payload)] = binary.BigEndian.Uint32(payload[2:])
	}
	if streams, window, headers := settings[3], settings[4], settings[6]; streams != mostStreams || window != mostUnread || headers < mostHeader || headers > mostHeader+1024 {
		t.Errorf("%v", settings)
	}

	get := []byte{0x82, 0x84, 0x87} // GET / of https, by the static table
	for i := range uint32(2000) {
		if f.send(1, 5, 2*i+1, get) != nil || f.send(3, 0, 2*i+1, make([]byte, 4)) != nil {
			break
		}
	}
	if got := f.refused(); !strings.Contains(got, "code 11") && !strings.Contains(got, "reset") && !strings.Contains(got, "pipe") && got != "EOF" {
		t.Errorf("requests that are reset: %s", got)
	}
	if n := most.Load(); n == 0 || n > mostStreams {
		t.Errorf("%d requests at a time; want %d", n, mostStreams)
	}

	// A header without an end.
	f = dialFrames(t, l.address)
	err = f.send(1, 1, 1, append(append([]byte{}, get...), 0, 1, 'x', 0x7f, 0xff, 0xff, 0xff, 0x7f))
	for range 1000 {
		if err != nil {
			break
		}
		err = f.send(9, 0, 1, make([]byte, 16<<10))
	}
	if got := f.refused(); err == nil {
		t.Errorf("16 MiB of a header are taken: %s", got)
	}

	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, ForceAttemptHTTP2: true}, Timeout: 20 * time.Second}
	defer client.CloseIdleConnections()
	response, err := client.Get("https://" + l.address + "/good")
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.ProtoMajor != 2 || response.StatusCode != http.StatusOK {
		t.Errorf("another: %s %s", response.Proto, response.Status)
	}
}
