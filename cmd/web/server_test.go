package web

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"prescient/cmd/internal/program"
	"prescient/config"
)

// listening is a server of a handler, which stop tells to end.
type listening struct {
	address string
	stop    func()
	ended   chan error
	log     *bytes.Buffer // to be read once it has ended
}

func startServer(t *testing.T, grace time.Duration, cert *certificate, handler http.HandlerFunc) *listening {
	return startPatient(t, grace, cert, handler, usual())
}

func startPatient(t *testing.T, grace time.Duration, cert *certificate, handler http.HandlerFunc, may patience) *listening {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &listening{address: listener.Addr().String(), ended: make(chan error, 1), log: new(bytes.Buffer)}
	s := &program.Session{Log: zerolog.New(zerolog.SyncWriter(l.log)), Config: config.Config{Worker: config.Worker{StopGrace: grace}, Serve: config.Serve{Connections: 16}}}
	ctx, cancel := context.WithCancel(context.Background())
	l.stop = cancel
	go func() { l.ended <- listen(ctx, s, listener, cert, handler, may, nil) }()
	t.Cleanup(cancel)
	return l
}

func TestWhatIsUnderWayMayEnd(t *testing.T) {
	t.Parallel()
	asked, goOn := make(chan struct{}), make(chan struct{})
	l := startServer(t, time.Minute, nil, func(w http.ResponseWriter, r *http.Request) {
		close(asked)
		<-goOn
		if r.Context().Err() != nil {
			t.Error(r.Context().Err())
		}
		_, _ = io.WriteString(w, "done")
	})
	answers := make(chan string, 1)
	go func() {
		response, err := http.Get("http://" + l.address)
		if err != nil {
			answers <- err.Error()
			return
		}
		defer response.Body.Close()
		text, _ := io.ReadAll(response.Body)
		answers <- string(text)
	}()
	<-asked
	l.stop()
	for { // until nobody else is let in
		conn, err := net.Dial("tcp", l.address)
		if err != nil {
			break
		}
		_ = conn.Close()
	}
	close(goOn)
	if err, got := <-l.ended, <-answers; err != nil || got != "done" {
		t.Errorf("%v, %s", err, got)
	}
}

func TestWhatTakesTooLongIsBrokenOff(t *testing.T) {
	t.Parallel()
	asked, broken := make(chan struct{}), make(chan struct{})
	l := startServer(t, 50*time.Millisecond, nil, func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
		close(broken)
	})
	go func() {
		if response, err := http.Get("http://" + l.address); err == nil {
			_ = response.Body.Close()
		}
	}()
	<-asked
	l.stop()
	<-broken
	if err := <-l.ended; err != nil || !strings.Contains(l.log.String(), "broken off") {
		t.Errorf("%v\n%s", err, l.log)
	}
}

// pair writes a certificate of a name and its key to files.
func pair(t *testing.T, name, certFile, keyFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{name}}
	cert, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: cert}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if file == "" {
			continue
		}
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

func TestACertificateIsReadAgainWhenItsFilesHaveChanged(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	certFile, keyFile := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	if _, err := readCertificate(certFile, keyFile, zerolog.Nop()); err == nil {
		t.Error("read what is not there")
	}
	pair(t, "first", certFile, keyFile)
	cert, err := readCertificate(certFile, keyFile, zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	l := startServer(t, time.Second, cert, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) })
	wants := func(name string) {
		t.Helper()
		cert.mu.Lock()
		cert.looked = time.Time{} // a second has passed
		cert.mu.Unlock()
		conn, err := tls.Dial("tcp", l.address, &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"h2", "http/1.1"}})
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		if state := conn.ConnectionState(); state.PeerCertificates[0].DNSNames[0] != name || state.NegotiatedProtocol != "h2" || state.Version < tls.VersionTLS12 {
			t.Errorf("%v by %s; want %s", state.PeerCertificates[0].DNSNames, state.NegotiatedProtocol, name)
		}
	}
	wants("first")
	other := filepath.Join(dir, "other.pem")
	pair(t, "second", certFile, other) // the key is still the first one's
	wants("first")
	if err := os.Remove(keyFile); err != nil {
		t.Fatal(err)
	}
	wants("first")
	if err := os.Rename(other, keyFile); err != nil {
		t.Fatal(err)
	}
	wants("second")
}
