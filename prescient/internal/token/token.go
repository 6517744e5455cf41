// Package token makes the secrets by which callers of the API prove themselves, and what is kept of them.
package token

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
)

// prefix is for people, and for programs that look for secrets where none should be.
const prefix = "pst_"

// bytes is how many a secret has.
const bytes = 32

// Hash is what is kept of a secret: its SHA-256. What makes a hash slow, or salts it, protects what people choose and others can guess. Of 256 random
// bits nobody tries out a share that counts, whatever a try costs; and a fast hash costs a request nothing.
type Hash [sha256.Size]byte

// New makes a secret.
func New() (secret string, hash Hash) {
	var random [bytes]byte
	_, _ = rand.Read(random[:]) // it never fails
	secret = prefix + base64.RawURLEncoding.EncodeToString(random[:])
	return secret, sha256.Sum256([]byte(secret))
}

// Read returns the hash of what may be a secret; is says whether it has the form of one.
func Read(text string) (hash Hash, is bool) {
	rest, is := strings.CutPrefix(text, prefix)
	random, err := base64.RawURLEncoding.Strict().DecodeString(rest)
	if !is || err != nil || len(random) != bytes || strings.ContainsAny(rest, "\r\n") {
		return Hash{}, false
	}
	return sha256.Sum256([]byte(text)), true
}
