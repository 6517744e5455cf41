package connect

import (
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"net"

	"github.com/go-sql-driver/mysql"

	"prescient/prescient"
)

// ErrNotTrusted is returned where the server cannot prove that it is the one that was asked for.
var ErrNotTrusted = errors.New("the server is not trusted")

// TLS says how connections are encrypted and the server verified, in place of the DSN's parameter tls. The zero value
// leaves that to the DSN. All but ServerName are PEM texts.
type TLS struct {
	// CA has the certificates one of which has to have signed the server's; those of the system where it is empty.
	CA []byte
	// ServerName is what the server's certificate has to be for; the host of the DSN by default. A certificate without
	// any alternative name, as MySQL makes for itself, is held to its common name where ServerName is given. Where it is
	// not, the signature of CA is enough for such a certificate, and only for such a one.
	ServerName string
	// Cert and Key are the client's certificate and its key; both empty for none.
	Cert, Key []byte
	// PublicKey is the server's RSA key, for passwords of caching_sha2_password over plain TCP. Without it the server is
	// asked for its key, which somebody between the two can forge.
	PublicKey []byte
}

// encrypts reports whether connections are encrypted because of it.
func (t TLS) encrypts() bool { return len(t.CA)+len(t.ServerName)+len(t.Cert)+len(t.Key) > 0 }

// apply makes a configuration of the driver follow it. The errors wrap prescient.ErrInvalid.
func (t TLS) apply(cfg *mysql.Config) error {
	if t.encrypts() {
		if cfg.TLSConfig != "" && cfg.TLSConfig != "true" || cfg.AllowFallbackToPlaintext {
			return fmt.Errorf("%w: dsn: its parameter tls or allowFallbackToPlaintext would weaken the verification that is configured; leave it out", prescient.ErrInvalid)
		}
		host, _, err := net.SplitHostPort(cfg.Addr)
		if err != nil {
			host = ""
		}
		if cfg.TLS, err = t.config(host); err != nil {
			return err
		}
		cfg.TLSConfig = ""
	}
	if len(t.PublicKey) > 0 {
		key, err := parsePublicKey(t.PublicKey)
		if err != nil {
			return err
		}
		sum := sha256.Sum256(t.PublicKey)
		cfg.ServerPubKey = "prescient-" + hex.EncodeToString(sum[:])
		mysql.RegisterServerPubKey(cfg.ServerPubKey, key)
	}
	verified := cfg.TLS != nil && (!cfg.TLS.InsecureSkipVerify || cfg.TLS.VerifyConnection != nil)
	if cfg.AllowCleartextPasswords && !verified {
		return fmt.Errorf("%w: dsn: allowCleartextPasswords shows the password to whoever answers, unless the server is verified", prescient.ErrInvalid)
	}
	return nil
}

// config returns what a connection to a host uses.
func (t TLS) config(host string) (*tls.Config, error) {
	c := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if c.ServerName == "" {
		c.ServerName = host
	}
	if len(t.CA) > 0 {
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(t.CA) {
			return nil, fmt.Errorf("%w: the CA for TLS has no certificate in PEM form", prescient.ErrInvalid)
		}
	}
	if len(t.Cert)+len(t.Key) > 0 {
		pair, err := tls.X509KeyPair(t.Cert, t.Key)
		if err != nil {
			// The error is the standard library's and quotes nothing of the key.
			return nil, fmt.Errorf("%w: the client's certificate and key for TLS: %w", prescient.ErrInvalid, err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	// The standard library refuses certificates without alternative names, so that all is verified here instead.
	c.InsecureSkipVerify = true
	c.VerifyConnection = func(state tls.ConnectionState) error { return t.verify(c, state) }
	return c, nil
}

// verify is the standard library's verification, but for certificates without alternative names.
func (t TLS) verify(c *tls.Config, state tls.ConnectionState) error {
	if len(state.PeerCertificates) == 0 {
		return fmt.Errorf("%w: it sent no certificate", ErrNotTrusted)
	}
	leaf := state.PeerCertificates[0]
	options := x509.VerifyOptions{Roots: c.RootCAs, Intermediates: x509.NewCertPool()}
	for _, one := range state.PeerCertificates[1:] {
		options.Intermediates.AddCert(one)
	}
	if _, err := leaf.Verify(options); err != nil {
		return fmt.Errorf("%w: its certificate: %w", ErrNotTrusted, err)
	}
	if len(leaf.DNSNames)+len(leaf.IPAddresses)+len(leaf.EmailAddresses)+len(leaf.URIs) > 0 {
		if err := leaf.VerifyHostname(c.ServerName); err != nil {
			return fmt.Errorf("%w: its certificate: %w", ErrNotTrusted, err)
		}
		return nil
	}
	switch {
	case t.ServerName != "" && t.ServerName != leaf.Subject.CommonName:
		return fmt.Errorf("%w: its certificate is for %.80q, not for %.80q", ErrNotTrusted, leaf.Subject.CommonName, t.ServerName)
	case t.ServerName == "" && len(t.CA) == 0:
		return fmt.Errorf("%w: its certificate is for no name", ErrNotTrusted)
	}
	return nil
}

func parsePublicKey(text []byte) (*rsa.PublicKey, error) {
	block, _ := pem.Decode(text)
	if block == nil {
		return nil, fmt.Errorf("%w: the server's public key is not in PEM form", prescient.ErrInvalid)
	}
	parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("%w: the server's public key: %w", prescient.ErrInvalid, err)
	}
	key, ok := parsed.(*rsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("%w: the server's public key is no RSA key", prescient.ErrInvalid)
	}
	return key, nil
}
