package mail

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"math/big"
	"mime/quotedprintable"
	"net"
	"net/mail"
	"strings"
	"testing"
	"time"

	"prescient/prescient/doctor"
	"prescient/prescient/notify"
)

// server is one of e-mail, which keeps what it was sent.
type server struct {
	net.Listener
	config   *tls.Config // with which STARTTLS begins; nil for none
	roots    *tls.Config // what its clients are to trust
	refuses  string      // what it says to a login, instead of taking it
	bounces  string      // what it says to the address bob
	logins   chan string
	messages chan string
}

func newServer(t *testing.T, starts bool) *server {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	s := &server{logins: make(chan string, 9), messages: make(chan string, 9), roots: &tls.Config{RootCAs: x509.NewCertPool()}}
	s.roots.RootCAs.AddCert(certificate)
	if starts {
		s.config = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}
	}
	if s.Listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	go func() {
		for {
			conn, err := s.Accept()
			if err != nil {
				return
			}
			go s.talk(conn)
		}
	}()
	return s
}

// talk is one conversation.
func (s *server) talk(conn net.Conn) {
	defer func() { conn.Close() }()
	encrypted := false
	lines := bufio.NewReader(conn)
	say := func(text string) { fmt.Fprintf(conn, "%s\r\n", text) }
	say("220 here")
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			return
		}
		switch verb := strings.ToUpper(strings.Fields(line + " .")[0]); verb {
		case "EHLO":
			switch {
			case encrypted:
				say("250-here\r\n250 AUTH PLAIN")
			case s.config != nil:
				say("250-here\r\n250 STARTTLS")
			default:
				say("250 here")
			}
		case "STARTTLS":
			say("220 go on")
			conn = tls.Server(conn, s.config)
			lines, encrypted = bufio.NewReader(conn), true
		case "AUTH":
			s.logins <- strings.TrimSpace(line)
			if s.refuses != "" {
				say(s.refuses)
			} else {
				say("235 welcome")
			}
		case "RCPT":
			if s.bounces != "" && strings.Contains(line, "bob") {
				say(s.bounces)
			} else {
				say("250 well")
			}
		case "DATA":
			say("354 go on")
			var text strings.Builder
			for {
				line, err := lines.ReadString('\n')
				if err != nil {
					return
				}
				if line == ".\r\n" {
					break
				}
				text.WriteString(strings.TrimPrefix(line, "."))
			}
			s.messages <- text.String()
			say("250 taken")
		case "QUIT":
			say("221 bye")
			return
		default:
			say("250 well")
		}
	}
}

func message(text string) notify.Message {
	return notify.Message{ID: "finding-1", To: "mail", At: time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC), Place: "shop", Items: []notify.Item{{Kind: notify.Came, Code: "failing", Severity: doctor.SeverityBad,
		Found: 3, Since: time.Date(2026, 11, 20, 12, 58, 0, 0, time.UTC), Text: text, Do: "Mend it."}}}
}

// Others' text gets no further than the body, whatever it looks like.
func TestAMessageIsSentByTLSWithItsPassword(t *testing.T) {
	s := newServer(t, true)
	to, err := open("smtp://ops@"+s.Addr().String(), "s3cret", `"Checks" <checks@example.org>`, []string{"ada@example.org", "bob@example.org"}, s.roots)
	if err != nil {
		t.Fatal(err)
	}
	if err := to.Send(t.Context(), message("It says: x\r\n.\r\nBcc: eve@example.org — gone")); err != nil {
		t.Fatal(err)
	}
	if got := <-s.logins; got != "AUTH PLAIN "+base64.StdEncoding.EncodeToString([]byte("\x00ops\x00s3cret")) {
		t.Error(got)
	}
	got, err := mail.ReadMessage(strings.NewReader(<-s.messages))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"Subject": "prescient shop: bad: failing (3)", "From": `"Checks" <checks@example.org>`, "To": "<ada@example.org>, <bob@example.org>", "Message-Id": "<finding-1@example.org>",
		"Bcc": "", "Auto-Submitted": "auto-generated", "Date": "Fri, 20 Nov 2026 13:00:00 +0000"} {
		if got.Header.Get(name) != want {
			t.Errorf("%s: %q; want %q", name, got.Header.Get(name), want)
		}
	}
	body, err := io.ReadAll(quotedprintable.NewReader(got.Body))
	if err != nil || !strings.Contains(string(body), "since 2026-11-20 12:58:00 UTC") || !strings.Contains(string(body), "Bcc: eve@example.org — gone") || !strings.Contains(string(body), "What to do: Mend it.") {
		t.Errorf("%q, %v", body, err)
	}
}

func TestWithoutTLSNothingIsSent(t *testing.T) {
	s := newServer(t, false)
	to, err := open("smtp://ops@"+s.Addr().String(), "s3cret", "a@example.org", []string{"b@example.org"}, s.roots)
	if err != nil {
		t.Fatal(err)
	}
	if err := to.Send(t.Context(), message("x")); err == nil || len(s.logins)+len(s.messages) > 0 {
		t.Errorf("%v, %d logins, %d messages", err, len(s.logins), len(s.messages))
	}
	strange := newServer(t, true)
	to, err = open("smtp://ops@"+strange.Addr().String(), "s3cret", "a@example.org", []string{"b@example.org"}, s.roots)
	if err != nil {
		t.Fatal(err)
	}
	if err := to.Send(t.Context(), message("x")); err == nil || !strings.Contains(err.Error(), "certificate") || len(strange.logins) > 0 {
		t.Errorf("a certificate that nobody knows: %v", err)
	}
	plain, err := open("smtp+plain://"+s.Addr().String(), "", "a@example.org", []string{"b@example.org"}, s.roots)
	if err != nil {
		t.Fatal(err)
	}
	if err := plain.Send(t.Context(), message("x")); err != nil || len(s.messages) != 1 {
		t.Errorf("%v, %d messages", err, len(s.messages))
	}
}

// An address that the server does not take keeps no other from its message, which no address gets twice.
func TestAnAddressThatIsRefusedKeepsNoOtherFromItsMessage(t *testing.T) {
	for says, never := range map[string]bool{"550 no such user": true, "451 come again": false} {
		s := newServer(t, false)
		s.bounces = says
		to, err := Open("smtp+plain://"+s.Addr().String(), "", "a@example.org", []string{"ada@example.org", "bob@example.org", "cleo@example.org"})
		if err != nil {
			t.Fatal(err)
		}
		var part *notify.PartError
		err = to.Send(t.Context(), message("x"))
		if err == nil || errors.As(err, &part) != never || !strings.Contains(err.Error(), "bob@example.org") || strings.Contains(err.Error(), "ada") || len(s.messages) != 2 {
			t.Errorf("%v, %d messages", err, len(s.messages))
		}
		if never {
			continue
		}
		err = to.Send(t.Context(), message("x"))
		if err == nil || len(s.messages) != 2 {
			t.Errorf("again: %v, %d messages", err, len(s.messages))
		}
		s.bounces = ""
		if err = to.Send(t.Context(), message("x")); err != nil || len(s.messages) != 3 {
			t.Errorf("once it takes it: %v, %d messages", err, len(s.messages))
		}
	}
	s := newServer(t, false)
	s.bounces = "550 no such user"
	to, err := Open("smtp+plain://"+s.Addr().String(), "", "a@example.org", []string{"bob@example.org", "bob2@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	var part *notify.PartError
	if err = to.Send(t.Context(), message("x")); err == nil || errors.As(err, &part) {
		t.Errorf("nobody has it: %v", err)
	}
}

func TestAnErrorShowsNoPassword(t *testing.T) {
	s := newServer(t, true)
	s.refuses = "535 s3cret is wrong, said " + base64.StdEncoding.EncodeToString([]byte("\x00ops\x00s3cret"))
	to, err := open("smtp://ops@"+s.Addr().String(), "s3cret", "a@example.org", []string{"b@example.org"}, s.roots)
	if err != nil {
		t.Fatal(err)
	}
	err = to.Send(t.Context(), message("x"))
	if err == nil || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), base64.StdEncoding.EncodeToString([]byte("\x00ops"))[:5]) || strings.Contains(err.Error(), "\n") {
		t.Error(err)
	}
}

// A server that takes a connection and says nothing holds nobody up.
func TestASilentServerIsGivenUpWithItsContext(t *testing.T) {
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	to, err := Open("smtp+plain://"+silent.Addr().String(), "", "a@example.org", []string{"b@example.org"})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer stop()
	began := time.Now()
	if err := to.Send(ctx, message("x")); err == nil || time.Since(began) > 5*time.Second {
		t.Errorf("%v after %s", err, time.Since(began))
	}
}

func TestWhatIsNoServerOfMailIsRefused(t *testing.T) {
	for server, password := range map[string]string{"http://h": "", "smtp://": "", "smtp://u@h": "", "smtp://h": "p", "smtp+plain://u@h": "p", "smtp://h:99999": ""} {
		if _, err := Open(server, password, "a@example.org", []string{"b@example.org"}); err == nil {
			t.Errorf("%s with %q was taken", server, password)
		}
	}
	if _, err := Open("smtp://h", "", "nobody", []string{"b@example.org"}); err == nil {
		t.Error("it is from nobody")
	}
}
