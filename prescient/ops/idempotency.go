package ops

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
)

// Errors of idempotency keys.
var (
	// ErrKeyUsed is returned where the same caller used the key for another request in the last 24 hours.
	ErrKeyUsed = errors.New("the idempotency key was used for another request")
	// ErrUnderWay is returned where a request with the same key is under way.
	ErrUnderWay = errors.New("a request with this idempotency key is under way")
)

// KeyTime is how long the answer of an idempotency key is kept.
const KeyTime = 24 * time.Hour

var keyPattern = regexp.MustCompile(`^[\x21-\x7e]{1,128}$`)

// kept is the row of an idempotency key. Its answer is nil where the deed is still to be done.
type kept struct {
	token  uint64
	key    string
	answer []byte
}

// keep finds what the key was answered, or notes it in the deed's transaction: until that is over the same key waits for nothing, and is told so.
func (d doing) keep(ctx context.Context, id string, in any) (*kept, error) {
	if !keyPattern.MatchString(d.by.Key) {
		return nil, fmt.Errorf("%w: idempotency key %.40q: 1 to 128 printable characters of ASCII are allowed, without blanks", prescient.ErrInvalid, d.by.Key)
	}
	body, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	hash := sha256.Sum256(append(append([]byte(id), 0), body...))
	token := d.by.Token
	if token == 0 { // callers who proved themselves by no token have their keys by name
		name := sha256.Sum256([]byte(d.by.Name))
		token = 1<<63 | binary.BigEndian.Uint64(name[:8])
	}
	k := &kept{token: token, key: d.by.Key}
	var before []byte
	var old bool
	statement := func(name string, args ...any) error {
		_, err := d.tx.ExecContext(ctx, d.tables.Stmt.Get(name), args...)
		return err
	}
	err = store.QueryRow(ctx, d.tx, []any{&before, &k.answer, &old}, d.tables.Stmt.Get("ops/key_find"), token, k.key)
	switch {
	case errno.Is(err, errno.NoWait, errno.LockWaitTimeout):
		return nil, fmt.Errorf("%w: %s", ErrUnderWay, k.key)
	case errors.Is(err, sql.ErrNoRows):
	case err != nil:
		return nil, fmt.Errorf("looking for the idempotency key: %w", err)
	case old:
		if err := statement("ops/key_forget", token, k.key); err != nil {
			return nil, fmt.Errorf("forgetting an old idempotency key: %w", err)
		}
	case string(before) != string(hash[:]):
		return nil, fmt.Errorf("%w: %s", ErrKeyUsed, k.key)
	default:
		return k, nil
	}
	k.answer = nil
	err = statement("ops/key_insert", token, k.key, id, hash[:])
	if errno.Is(err, errno.DuplicateKey, errno.LockWaitTimeout) { // between the look and the insert another began
		return nil, fmt.Errorf("%w: %s", ErrUnderWay, k.key)
	}
	if err != nil {
		return nil, fmt.Errorf("keeping the idempotency key: %w", err)
	}
	return k, nil
}

func (k *kept) read(out any) error {
	if err := json.Unmarshal(k.answer, out); err != nil {
		return fmt.Errorf("reading the answer that the idempotency key got: %w", err)
	}
	return nil
}

// answered notes the answer.
func (k *kept) answered(ctx context.Context, d doing, out any) error {
	answer, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	if _, err := d.tx.ExecContext(ctx, d.tables.Stmt.Get("ops/key_answer"), answer, k.token, k.key); err != nil {
		return fmt.Errorf("keeping the answer: %w", err)
	}
	return nil
}
