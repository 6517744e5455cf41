package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFilesOfTLSAreRead(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	ca, cert, key, public := file("ca", "a CA\n"), file("cert", "a cert"), file("key", canary), file("public", "a key")
	c := given{file: fmt.Sprintf("tls:\n  ca_file: %s\n  server_name: db\n  cert_file: %s\n  key_file: %s\n  public_key_file: %s\n",
		ca, cert, key, public)}.mustLoad(t)
	if c.TLS.CA != "a CA" || c.TLS.ServerName != "db" || c.TLS.Cert != "a cert" || c.TLS.Key.Reveal() != canary || c.TLS.PublicKey != "a key" {
		t.Errorf("%+v", c.TLS)
	}
	for _, shown := range []string{c.Redacted(), fmt.Sprintf("%v %+v %#v %+v %#v", c, c, c, c.TLS, c.TLS)} {
		if strings.Contains(shown, canary) {
			t.Errorf("the key is in %s", shown)
		}
	}
	for text, want := range map[string]string{
		"tls: {cert_file: " + cert + "}":    "tls.key_file is missing",
		"tls: {key_file: " + key + "}":      "tls.cert_file is missing",
		"tls: {ca_file: " + dir + "/none}":  "cannot be read",
		"tls: {ca_file: " + dir + "}":       "cannot be read",
		"tls: {server_name: \"a\\x1bb\"}":   "cannot be printed",
		"tls: {ca: a}":                      "tls.ca",
		"tls: {server_name: 'u:pw@tcp(h)'}": "not shown",
	} {
		options := given{file: text}.options(t)
		if _, err := Load(options); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v; want %q", text, err, want)
		}
	}
}
