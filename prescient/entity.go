package prescient

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Longest values that the tables hold: bytes for identifiers, characters for keys and tags.
const (
	MaxNameLen = 64
	MaxKeyLen  = 128
	MaxTagLen  = 64
)

// ScheduleEntity is the entity name that schedules have for their checks: it is theirs alone.
const ScheduleEntity = "schedule"

// Entity is the thing in the app's domain that a check is about, such as order 42.
type Entity struct {
	// Name is an identifier: letters, digits, and _ . - ; at most 64 bytes.
	Name string
	// Key tells entities of one name apart: any UTF-8 text of 1 to 128 characters. Case and trailing blanks count. A new check has none
	// that is Unseen.
	Key string
}

// ParseEntity reads "name/key", as in order/42. The key is all that follows the first slash.
// The error wraps ErrInvalid.
func ParseEntity(text string) (Entity, error) {
	name, key, ok := strings.Cut(text, "/")
	if !ok {
		return Entity{}, fmt.Errorf("%w: entity %.80q: want name/key, as in order/42", ErrInvalid, text)
	}
	e := Entity{Name: name, Key: key}
	return e, e.Validate()
}

// String returns name/key.
func (e Entity) String() string { return e.Name + "/" + e.Key }

// Validate returns an error that wraps ErrInvalid where the name or the key cannot be stored as it is.
func (e Entity) Validate() error {
	if err := ValidIdentifier("entity name", e.Name); err != nil {
		return err
	}
	if e.Key == "" {
		return fmt.Errorf("%w: the entity key of %q is empty", ErrInvalid, e.Name)
	}
	return ValidText("entity key", e.Key, MaxKeyLen)
}

// ValidIdentifier holds names to letters, digits and _ . - , so that they read the same in logs, shells and URLs. The
// error wraps ErrInvalid.
func ValidIdentifier(what, s string) error {
	if s == "" {
		return fmt.Errorf("%w: %s is empty", ErrInvalid, what)
	}
	if len(s) > MaxNameLen {
		return fmt.Errorf("%w: %s %.80q has %d bytes; at most %d are allowed", ErrInvalid, what, s, len(s), MaxNameLen)
	}
	for _, r := range []byte(s) {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '.', r == '-':
		default:
			return fmt.Errorf("%w: %s %q: only letters, digits and _ . - are allowed", ErrInvalid, what, s)
		}
	}
	return nil
}

// ValidText returns an error that wraps ErrInvalid where a text is not UTF-8, or longer than limit characters.
func ValidText(what, s string, limit int) error {
	if !utf8.ValidString(s) {
		return fmt.Errorf("%w: %s %.80q is not valid UTF-8", ErrInvalid, what, s)
	}
	if n := utf8.RuneCountInString(s); n > limit {
		return fmt.Errorf("%w: %s %.80q has %d characters; at most %d are allowed", ErrInvalid, what, s, n, limit)
	}
	return nil
}

// ValidLabel is ValidText for what tells one thing from another in tables and at brokers: it is not empty, has no control characters, and no
// blank at either end, which comparisons of the servers do not see.
func ValidLabel(what, s string, limit int) error {
	switch {
	case s == "":
		return fmt.Errorf("%w: %s is empty", ErrInvalid, what)
	case strings.HasPrefix(s, " ") || strings.HasSuffix(s, " "):
		return fmt.Errorf("%w: %s %.200q begins or ends with a blank, which is not allowed", ErrInvalid, what, s)
	case strings.ContainsFunc(s, unicode.IsControl):
		return fmt.Errorf("%w: %s %.200q has control characters, which are not allowed", ErrInvalid, what, s)
	}
	return ValidText(what, s, limit)
}

// Key is the job_key of a row: 12 bytes that name the entity, then 4 that name the job_exec and tag. The column's
// default expression computes the same bytes for a plain INSERT.
type Key [16]byte

// KeyspaceID is where in a sharded keyspace lies what is about an entity: the first 12 bytes of all its job_keys.
type KeyspaceID [12]byte

// KeyspaceID is where what is about the entity lies.
func (e Entity) KeyspaceID() KeyspaceID { return KeyspaceID(hashed(e.Name + "\x00" + e.Key)) }

// KeyspaceIDOf is that of the entity that the key of an event names, as order/42 does; that of a key without a slash is no entity's.
func KeyspaceIDOf(key string) KeyspaceID {
	return KeyspaceID(hashed(strings.Replace(key, "/", "\x00", 1)))
}

func hashed(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	return sum[:len(KeyspaceID{})]
}

// KeyOf returns the job_key of the one row that may be pending for this entity, job_exec and tag.
func KeyOf(e Entity, jobExec, tag string) Key {
	return e.KeyWith(CheckPart(jobExec, tag))
}

// KeyWith is KeyOf for what CheckPart returned, for the many rows that have the same.
func (e Entity) KeyWith(check [4]byte) Key {
	var k Key
	id := e.KeyspaceID()
	copy(k[:], id[:])
	copy(k[12:], check[:])
	return k
}

// CheckPart is the end of a job_key: what tells apart the keys of an entity.
func CheckPart(jobExec, tag string) [4]byte {
	sum := sha256.Sum256([]byte(jobExec + "\x00" + tag))
	return [4]byte(sum[:4])
}

// String returns the key in hexadecimal, as HEX(job_key) shows it.
func (k Key) String() string { return fmt.Sprintf("%X", k[:]) }

// KeyRange returns the first and last job_key that an entity can have.
func (e Entity) KeyRange() (first, last Key) {
	first = KeyOf(e, "", "")
	last = first
	for i := 12; i < len(first); i++ {
		first[i], last[i] = 0, 0xff
	}
	return first, last
}

// Next is the key after k; ok is false after the last.
func (k Key) Next() (after Key, ok bool) {
	for i := len(k) - 1; i >= 0; i-- {
		k[i]++
		if k[i] != 0 {
			return k, true
		}
	}
	return k, false
}
