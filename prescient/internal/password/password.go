// Package password has what is kept of the passwords of people: an argon2id of each, and at most two of these made at a time.
package password

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"prescient/prescient"
)

// Bounds of a password.
const (
	Shortest = 12  // characters
	Longest  = 256 // bytes
)

// ErrBusy is returned where others' passwords are being tried, and none of these was done within the time.
var ErrBusy = errors.New("too many passwords are being tried")

// atATime is how many hashes are made at a time: each takes memoryKB, so that whoever tries passwords cannot take all there is.
const atATime = 2

// What a hash costs: 46 MiB and about a tenth of a second, twice what OWASP calls the least.
const (
	memoryKB = 46 << 10
	passes   = 2
	threads  = 1
	saltLen  = 16
	hashLen  = 32
)

// Bounds of what a stored hash may cost: those of a hash that somebody else wrote into the table.
const (
	mostMemoryKB = 256 << 10
	mostPasses   = 10
)

// Hasher makes and compares hashes. It is for concurrent use.
type Hasher struct{ places chan struct{} }

// NewHasher returns a Hasher.
func NewHasher() *Hasher { return &Hasher{make(chan struct{}, atATime)} }

// Check returns an error that wraps prescient.ErrInvalid where somebody of this name should not have the password. The error does not show it.
func Check(name, password string) error {
	switch {
	case !utf8.ValidString(password):
		return fmt.Errorf("%w: the password is not valid UTF-8", prescient.ErrInvalid)
	case utf8.RuneCountInString(password) < Shortest:
		return fmt.Errorf("%w: the password is too short: at least %d characters are wanted, such as four words", prescient.ErrInvalid, Shortest)
	case len(password) > Longest:
		return fmt.Errorf("%w: the password is too long: at most %d bytes are allowed", prescient.ErrInvalid, Longest)
	case strings.ContainsAny(password, "\x00\r\n"):
		return fmt.Errorf("%w: the password has a line break or a zero byte in it", prescient.ErrInvalid)
	case strings.Contains(strings.ToLower(password), strings.ToLower(name)) && len(name) >= Shortest/2 || strings.Trim(password, password[:1]) == "":
		return fmt.Errorf("%w: the password is easy to guess: it has the name in it, or one character only", prescient.ErrInvalid)
	}
	return nil
}

// Hash returns what is kept of a password, with a salt of its own. It waits for a place until ctx ends; the error then wraps ErrBusy.
func (h *Hasher) Hash(ctx context.Context, password string) (string, error) {
	salt := make([]byte, saltLen)
	_, _ = rand.Read(salt) // it never fails
	sum, err := h.sum(ctx, password, salt, memoryKB, passes, threads, hashLen)
	if err != nil {
		return "", err
	}
	b64 := base64.RawStdEncoding
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKB, passes, threads, b64.EncodeToString(salt), b64.EncodeToString(sum)), nil
}

// none is what is compared with where nobody has a name, so that this takes as long.
var none = fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, memoryKB, passes, threads, strings.Repeat("A", 22), strings.Repeat("A", 43))

// Is says whether a password is the one of which hash is kept. With an empty hash it takes as long, and is never true.
func (h *Hasher) Is(ctx context.Context, password, hash string) (bool, error) {
	stored, err := parse(hash)
	if hash == "" {
		stored, err = parse(none)
	}
	if err != nil {
		return false, err
	}
	if len(password) > Longest {
		password = "" // nobody has it, nor the empty one
	}
	sum, err := h.sum(ctx, password, stored.salt, stored.memoryKB, stored.passes, stored.threads, uint32(len(stored.sum)))
	if err != nil {
		return false, err
	}
	return subtle.ConstantTimeCompare(sum, stored.sum) == 1 && hash != "" && password != "", nil
}

func (h *Hasher) sum(ctx context.Context, password string, salt []byte, memory, passes uint32, threads uint8, length uint32) ([]byte, error) {
	select {
	case h.places <- struct{}{}:
	case <-ctx.Done():
		return nil, fmt.Errorf("%w: %w", ErrBusy, ctx.Err())
	}
	defer func() { <-h.places }()
	return argon2.IDKey([]byte(password), salt, passes, memory, threads, length), nil
}

// stored is a hash that was read.
type stored struct {
	memoryKB, passes uint32
	threads          uint8
	salt, sum        []byte
}

var errForm = errors.New("what is kept of the password is no argon2id, or one that costs too much")

func parse(hash string) (s stored, err error) {
	parts := strings.Split(hash, "$")
	if len(parts) != 6 || parts[0] != "" || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return s, errForm
	}
	n, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &s.memoryKB, &s.passes, &s.threads)
	if n != 3 || err != nil || parts[3] != fmt.Sprintf("m=%d,t=%d,p=%d", s.memoryKB, s.passes, s.threads) || s.memoryKB < 8 || s.memoryKB > mostMemoryKB || s.passes < 1 || s.passes > mostPasses || s.threads < 1 || s.threads > 8 {
		return s, errForm
	}
	b64 := base64.RawStdEncoding.Strict()
	var ofSalt, ofSum error
	s.salt, ofSalt = b64.DecodeString(parts[4])
	s.sum, ofSum = b64.DecodeString(parts[5])
	if ofSalt != nil || ofSum != nil || len(s.salt) < 8 || len(s.salt) > 64 || len(s.sum) < 16 || len(s.sum) > 64 {
		return s, errForm
	}
	return s, nil
}
