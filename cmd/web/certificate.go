package web

import (
	"crypto/tls"
	"os"
	"sync"
	"time"

	"github.com/rs/zerolog"
)

// lookEvery is how often the files of a certificate are looked at, when somebody connects.
const lookEvery = time.Second

// certificate is one of two files, read again when these have changed. While they are no good, as between the writing of the one and of the other,
// the one before is used.
type certificate struct {
	files [2]string // certificate and key
	log   zerolog.Logger

	mu     sync.Mutex
	looked time.Time
	seen   [2]stamp
	is     *tls.Certificate
}

// stamp tells a file from one that was there before.
type stamp struct {
	changed time.Time
	size    int64
}

func readCertificate(cert, key string, log zerolog.Logger) (*certificate, error) {
	c := &certificate{files: [2]string{cert, key}, log: log}
	return c, c.read()
}

// get is for tls.Config.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.looked) >= lookEvery {
		if err := c.read(); err != nil {
			c.log.Warn().Err(err).Msg("the certificate has changed and cannot be read; the one before is used")
		}
	}
	return c.is, nil
}

// read reads the files, where they are others than those that were read. The lock is held.
func (c *certificate) read() error {
	c.looked = time.Now()
	var seen [2]stamp
	for i, name := range c.files {
		file, err := os.Stat(name)
		if err != nil {
			return err
		}
		seen[i] = stamp{file.ModTime(), file.Size()}
	}
	if seen == c.seen {
		return nil
	}
	read, err := tls.LoadX509KeyPair(c.files[0], c.files[1])
	if err != nil {
		return err
	}
	c.seen, c.is = seen, &read
	return nil
}
