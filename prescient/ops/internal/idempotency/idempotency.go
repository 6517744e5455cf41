// Package idempotency has what was answered to a request with an idempotency key, so that the same request is done once.
package idempotency

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	"github.com/jmoiron/sqlx"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// Errors of idempotency keys.
var (
	// ErrUsed is returned where the same caller used the key for another request in the last 24 hours.
	ErrUsed = errors.New("the idempotency key was used for another request")
	// ErrUnderWay is returned where a request with the same key is under way.
	ErrUnderWay = errors.New("a request with this idempotency key is under way")
)

var keyPattern = regexp.MustCompile(`^[\x21-\x7e]{1,128}$`)

// Of is an idempotency key of a caller.
type Of struct {
	Key string
	// Token numbers what the caller proved itself by. Callers with none, 0, have their keys by Name.
	Token uint64
	Name  string
}

// Kept is the row of an idempotency key.
type Kept struct {
	token  uint64
	key    string
	answer []byte
	stmt   text.Statements
}

// Keep finds what the key was answered, or notes it in a deed's transaction: until that is over the same key waits for nothing, and is told so.
func Keep(ctx context.Context, tx *sqlx.Tx, stmt text.Statements, of Of, id string, in any) (*Kept, error) {
	if !keyPattern.MatchString(of.Key) {
		return nil, fmt.Errorf("%w: idempotency key %.40q: 1 to 128 printable characters of ASCII are allowed, without blanks", prescient.ErrInvalid, of.Key)
	}
	body, err := json.Marshal(in)
	if err != nil {
		return nil, fmt.Errorf("reading the request: %w", err)
	}
	hash := sha256.Sum256(append(append([]byte(id), 0), body...))
	token := of.Token
	if token == 0 {
		name := sha256.Sum256([]byte(of.Name))
		token = 1<<63 | binary.BigEndian.Uint64(name[:8])
	}
	k := &Kept{token: token, key: of.Key, stmt: stmt}
	var before []byte
	var old bool
	statement := func(name string, args ...any) error {
		_, err := tx.ExecContext(ctx, stmt.Get(name), args...)
		return err
	}
	err = store.QueryRow(ctx, tx, []any{&before, &k.answer, &old}, stmt.Get("ops/key_find"), token, k.key)
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
		return nil, fmt.Errorf("%w: %s", ErrUsed, k.key)
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

// Answered says whether the deed was done, and reads what it answered.
func (k *Kept) Answered(out any) (was bool, err error) {
	if k.answer == nil {
		return false, nil
	}
	if err := json.Unmarshal(k.answer, out); err != nil {
		return true, fmt.Errorf("reading the answer that the idempotency key got: %w", err)
	}
	return true, nil
}

// Answer notes what the deed answered.
func (k *Kept) Answer(ctx context.Context, tx *sqlx.Tx, out any) error {
	answer, err := json.Marshal(out)
	if err != nil {
		return fmt.Errorf("writing the answer: %w", err)
	}
	if _, err := tx.ExecContext(ctx, k.stmt.Get("ops/key_answer"), answer, k.token, k.key); err != nil {
		return fmt.Errorf("keeping the answer: %w", err)
	}
	return nil
}
