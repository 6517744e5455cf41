package config

import "fmt"

// TLS is how the server is verified. What the files hold is read by [Load]; all is PEM text. The zero TLS leaves it to the
// DSN.
type TLS struct {
	// CA, from tls.ca_file, are the certificates one of which signed the server's.
	CA string
	// ServerName is what the server's certificate is for; empty for the host of the DSN.
	ServerName string
	// Cert and Key, from tls.cert_file and tls.key_file, are the client's; both or neither.
	Cert string
	Key  Secret
	// PublicKey, from tls.public_key_file, is the server's, for passwords where there is no TLS.
	PublicKey string
}

const (
	keyCAFile        = "tls.ca_file"
	keyCertFile      = "tls.cert_file"
	keyKeyFile       = "tls.key_file"
	keyPublicKeyFile = "tls.public_key_file"
)

// resolveTLS reads the files.
func (l *loader) resolveTLS(c *Config) {
	read := func(key string) string {
		path, source := l.given(key)
		if path == "" {
			return ""
		}
		text, err := readSecret(path)
		if err != nil {
			l.add(key, source, err)
		}
		return text
	}
	c.TLS.CA, c.TLS.Cert, c.TLS.PublicKey = read(keyCAFile), read(keyCertFile), read(keyPublicKeyFile)
	c.TLS.Key = NewSecret(read(keyKeyFile))
	for _, pair := range [][2]string{{keyCertFile, keyKeyFile}, {keyKeyFile, keyCertFile}} {
		given, source := l.given(pair[0])
		if other, _ := l.given(pair[1]); given != "" && other == "" {
			l.add(pair[0], source, fmt.Errorf("%s is missing; a certificate and its key go together", pair[1]))
		}
	}
}
