package event

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"prescient/prescient"
	"prescient/prescient/internal/errno"
)

// MaxConsumer is the longest name of a consumer, in characters.
const MaxConsumer = 64

// Once says whether a consumer meets an event for the first time, and notes that it did, in the consumer's own transaction: what it
// does for the event commits with the note. It rolls nothing back where first is false: there is nothing to do then but to
// acknowledge the message. Two that get the same event at once wait for one another. The id is that of the message, as its broker has it.
//
// It is for consumers whose data is in this database. Another one makes a table like event_seen beside its own. Prune forgets what
// is older than it keeps; a broker that repeats older events repeats them for good.
func (o *Outbox) Once(ctx context.Context, tx prescient.DB, consumer, id string) (first bool, err error) {
	if id == "" {
		return false, fmt.Errorf("%w: id of an event is empty", prescient.ErrInvalid)
	}
	if err := prescient.ValidLabel("name of a consumer", consumer, MaxConsumer); err != nil {
		return false, err
	}
	if prescient.ValidLabel("id of an event", id, MaxID) != nil {
		// A header has it percent-encoded, which may be longer than an id is. What others have published may end in a blank.
		sum := sha256.Sum256([]byte(id))
		id = "sha256-" + hex.EncodeToString(sum[:])
	}
	_, err = tx.ExecContext(ctx, o.tables.Stmt.Get("event/seen"), consumer, id)
	if errno.Is(err, errno.DuplicateKey) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("noting that %s works on event %q: %w", consumer, id, err)
	}
	return true, nil
}
