package connect

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/rig"
	"prescient/prescient/localserver"
	"prescient/prescient/localserver/servertest"
)

// authority is a CA of a test's own.
type authority struct {
	t    *testing.T
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  []byte
}

func newAuthority(t *testing.T) *authority {
	a := &authority{t: t}
	a.cert = &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	var err error
	if a.key, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader); err != nil {
		t.Fatal(err)
	}
	a.pem = a.sign(a.cert, a.cert, &a.key.PublicKey)
	return a
}

func (a *authority) sign(c, parent *x509.Certificate, public any) []byte {
	a.t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, c, parent, public, a.key)
	if err != nil {
		a.t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// issue makes a certificate and its key; change makes it another than that of 127.0.0.1.
func (a *authority) issue(change func(c *x509.Certificate)) (cert, key []byte) {
	a.t.Helper()
	private, err := rsa.GenerateKey(rand.Reader, 2048) // every server reads such a key
	if err != nil {
		a.t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: "a server"},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"db.example.com"},
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageKeyEncipherment,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
		NotBefore:   time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	if change != nil {
		change(c)
	}
	key = pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(private)})
	return a.sign(c, a.cert, &private.PublicKey), key
}

// secured is a server of a test's own whose certificate can be changed.
type secured struct {
	*testRig
	dir string
	dsn string
}

func newSecured(t *testing.T, kind servertest.Kind, ours *authority) *secured {
	t.Helper()
	s := &secured{dir: t.TempDir()}
	files := []string{"--ssl-ca=" + s.file("ca"), "--ssl-cert=" + s.file("cert"), "--ssl-key=" + s.file("key")}
	if kind.Flavour() == localserver.MySQL {
		files = nil // it makes its own at first
	} else {
		s.testRig = &testRig{&rig.Rig{T: t}}
		s.write(ours, nil)
	}
	s.testRig = newRig(t, servertest.On(t, kind.Private(t, files...)), 15*time.Minute)
	s.dsn = s.Account("worker")
	return s
}

func (s *secured) file(name string) string { return filepath.Join(s.dir, name+".pem") }

func (s *secured) write(ours *authority, change func(c *x509.Certificate)) {
	cert, key := ours.issue(change)
	for name, text := range map[string][]byte{"ca": ours.pem, "cert": cert, "key": key} {
		s.Must(os.WriteFile(s.file(name), text, 0o600))
	}
}

// serve gives the server another certificate.
func (s *secured) serve(ours *authority, change func(c *x509.Certificate)) {
	s.T.Helper()
	s.write(ours, change)
	if s.D.Flavour == localserver.MariaDB {
		s.Exec("FLUSH SSL")
		return
	}
	for name, variable := range map[string]string{"ca": "ssl_ca", "cert": "ssl_cert", "key": "ssl_key"} {
		s.Exec("SET GLOBAL "+variable+" = ?", s.file(name))
	}
	s.Exec("ALTER INSTANCE RELOAD TLS")
}

// cipher connects, and returns what the connection is encrypted with.
func (s *secured) cipher(dsn string, options TLS) (cipher string, err error) {
	s.T.Helper()
	db, err := OpenWith(dsn, Options{TLS: options})
	if err != nil {
		return "", err
	}
	defer db.Close()
	var name string
	err = db.QueryRowContext(context.WithoutCancel(s.T.Context()), "SHOW SESSION STATUS LIKE 'Ssl_cipher'").Scan(&name, &cipher)
	return cipher, err
}

func (s *secured) passes(what string, options TLS) {
	s.T.Helper()
	if cipher, err := s.cipher(s.dsn, options); err != nil || cipher == "" {
		s.T.Errorf("%s: encrypted with %q, %v", what, cipher, err)
	}
}

func (s *secured) fails(what string, options TLS, texts ...string) {
	s.T.Helper()
	_, err := s.cipher(s.dsn, options)
	rig.WantErr(s.T, what, err, ErrNotTrusted)
	if !rig.Contains(err, texts...) {
		s.T.Errorf("%s: %v; want %q", what, err, texts)
	}
}

func TestAServerIsVerified(t *testing.T) {
	ours, theirs := newAuthority(t), newAuthority(t)
	servertest.EachKind(t, func(t *testing.T, kind servertest.Kind) {
		s := newSecured(t, kind, ours)
		if kind.Flavour() == localserver.MySQL {
			var data string
			s.Must(s.Root.QueryRow("SELECT @@datadir").Scan(&data))
			made, err := os.ReadFile(filepath.Join(data, "ca.pem"))
			s.Must(err)
			s.passes("the certificate that the server made", TLS{CA: made})
			s.fails("that, by another authority", TLS{CA: theirs.pem}, "signed by unknown authority")
			s.fails("that, under a name", TLS{CA: made, ServerName: "db.example.com"}, "not for")
			s.fails("that, by the system's", TLS{ServerName: "127.0.0.1"}, "signed by unknown authority")
			s.serve(ours, nil)
		}
		s.passes("by its address", TLS{CA: ours.pem})
		s.passes("by its name", TLS{CA: ours.pem, ServerName: "db.example.com"})
		s.fails("another authority", TLS{CA: theirs.pem}, "signed by unknown authority")
		s.fails("another name", TLS{CA: ours.pem, ServerName: "example.com"}, "example.com")
		s.serve(ours, func(c *x509.Certificate) { c.IPAddresses = nil })
		s.fails("the certificate of another", TLS{CA: ours.pem}, "127.0.0.1")
		s.serve(ours, func(c *x509.Certificate) { c.IPAddresses, c.DNSNames = nil, nil })
		s.passes("a certificate without names", TLS{CA: ours.pem})
		s.passes("that, by its common name", TLS{CA: ours.pem, ServerName: "a server"})
		s.fails("that, under another", TLS{CA: ours.pem, ServerName: "b"}, "not for")
		if kind.Flavour() == localserver.MariaDB { // the other refuses to serve it
			s.serve(ours, func(c *x509.Certificate) { c.NotAfter = time.Now().Add(-time.Minute) })
			s.fails("a certificate that is over", TLS{CA: ours.pem}, "expired")
		}
		s.serve(ours, nil)

		s.Exec("SET GLOBAL require_secure_transport = ON")
		if _, err := s.cipher(s.dsn, TLS{}); !errno.Is(err, 3159, 1045) {
			t.Errorf("in plain text: %v", err)
		}
		s.passes("where that is required", TLS{CA: ours.pem})
		s.Exec("ALTER USER '" + s.User("worker") + "'@'%' REQUIRE X509")
		cert, key := ours.issue(nil)
		s.passes("with a certificate of its own", TLS{CA: ours.pem, Cert: cert, Key: key})
		if _, err := s.cipher(s.dsn, TLS{CA: ours.pem}); !errno.Is(err, 1045) {
			t.Errorf("without one: %v", err)
		}
	})
}

func TestAPasswordIsSentInPlainTextToNobody(t *testing.T) {
	ours := newAuthority(t)
	servertest.EachKind(t, func(t *testing.T, kind servertest.Kind) {
		if kind.Flavour() != localserver.MySQL {
			// It has no caching_sha2_password; mysql_native_password sends a proof only.
			return
		}
		s := newSecured(t, kind, ours)
		var name, public string
		s.Must(s.Root.QueryRow("SHOW GLOBAL STATUS LIKE 'Caching_sha2_password_rsa_public_key'").Scan(&name, &public))
		private, err := rsa.GenerateKey(rand.Reader, 2048)
		s.Must(err)
		der, err := x509.MarshalPKIXPublicKey(&private.PublicKey)
		s.Must(err)
		other := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
		// With each FLUSH the server wants the password itself again, and not a proof.
		for _, tt := range []struct {
			what    string
			options TLS
			refused uint16
		}{
			{"the key that the server tells", TLS{}, 0},
			{"its key, known before", TLS{PublicKey: []byte(public)}, 0},
			{"the key of another", TLS{PublicKey: other}, 1045},
		} {
			s.Exec("FLUSH PRIVILEGES")
			if _, err := s.cipher(s.dsn, tt.options); tt.refused == 0 && err != nil || tt.refused != 0 && !errno.Is(err, tt.refused) {
				t.Errorf("%s: %v", tt.what, err)
			}
		}
	})
}

func TestWhatWouldWeakenAConnectionIsRefused(t *testing.T) {
	ca := newAuthority(t)
	cert, _ := ca.issue(nil)
	_, key := ca.issue(nil)
	for what, tt := range map[string]struct {
		dsn     string
		options TLS
		text    string
	}{
		"unverified and verified":    {"u:canary@tcp(h)/d?tls=skip-verify", TLS{CA: ca.pem}, "weaken"},
		"preferred and verified":     {"u:canary@tcp(h)/d?tls=preferred", TLS{ServerName: "h"}, "weaken"},
		"a fallback":                 {"u:canary@tcp(h)/d?allowFallbackToPlaintext=true", TLS{CA: ca.pem}, "weaken"},
		"no CA":                      {"u:canary@tcp(h)/d", TLS{CA: []byte("canary")}, "no certificate"},
		"a key of another":           {"u:canary@tcp(h)/d", TLS{CA: ca.pem, Cert: cert, Key: key}, "does not match"},
		"no key":                     {"u:canary@tcp(h)/d", TLS{CA: ca.pem, Cert: cert}, "certificate and key"},
		"a key that is none":         {"u:canary@tcp(h)/d", TLS{CA: ca.pem, Cert: cert, Key: []byte("canary")}, "certificate and key"},
		"a public key that is none":  {"u:canary@tcp(h)/d", TLS{PublicKey: []byte("canary")}, "PEM"},
		"a certificate as such":      {"u:canary@tcp(h)/d", TLS{PublicKey: cert}, "public key"},
		"the password as it is":      {"u:canary@tcp(h)/d?allowCleartextPasswords=true", TLS{}, "shows the password"},
		"the password, not verified": {"u:canary@tcp(h)/d?allowCleartextPasswords=true&tls=skip-verify", TLS{}, "shows the password"},
	} {
		_, err := OpenWith(tt.dsn, Options{TLS: tt.options})
		rig.WantErr(t, what, err, prescient.ErrInvalid)
		if !rig.Contains(err, tt.text) || strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: %v; want %q", what, err, tt.text)
		}
	}
	cfg, err := mysql.ParseDSN("u:p@tcp(h)/d?allowAllFiles=true&allowOldPasswords=true&character_set_client=gbk&Collation_connection=gbk_bin")
	if err != nil {
		t.Fatal(err)
	}
	settings := configure(cfg, time.Minute, time.Minute)
	if cfg.AllowAllFiles || cfg.AllowOldPasswords || len(cfg.Params) != 0 || strings.Contains(settings, "gbk") || strings.Count(settings, ",") != 10 {
		t.Errorf("%+v, %s", cfg, settings)
	}
}
