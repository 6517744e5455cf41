package config

import (
	"fmt"

	"prescient/config/value"
)

// readTLS reads the files.
func readTLS(serverName string, l layers, p *problems) TLS {
	read := func(key string) string { return readFileOf(key, l, p).Reveal() }
	ca, cert, publicKey := read(keyCAFile), read(keyCertFile), read(keyPublicKeyFile)
	key := readFileOf(keyKeyFile, l, p)
	for _, pair := range [][2]string{{keyCertFile, keyKeyFile}, {keyKeyFile, keyCertFile}, {keyServeCert, keyServeKey}, {keyServeKey, keyServeCert}} {
		given, source := l.given(pair[0])
		if other, _ := l.given(pair[1]); given != "" && other == "" {
			p.add(pair[0], source, fmt.Errorf("%s is missing; a certificate and its key go together", pair[1]))
		}
	}
	return TLS{CA: ca, ServerName: serverName, Cert: cert, Key: key, PublicKey: publicKey}
}

// readFileOf reads the file that a key names; the zero Secret for none.
func readFileOf(key string, l layers, p *problems) value.Secret {
	path, source := l.given(key)
	if path == "" {
		return value.Secret{}
	}
	text, err := ReadSecret(path)
	if err != nil {
		p.add(key, source, err)
		return value.Secret{}
	}
	return value.NewSecret(text)
}
