package event

import (
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"prescient/prescient"
)

// Bounds of an event.
const (
	// MaxID is the longest id, in characters.
	MaxID = 160
	// MaxTopic is the longest topic, in bytes.
	MaxTopic = 128
	// MaxKey is the longest key, in characters.
	MaxKey = 128
	// MaxPayload is the longest payload, in bytes.
	MaxPayload = 1 << 20
)

// Event is something that happened, as consumers are told of it.
type Event struct {
	// ID is the same for every copy, up to MaxID characters, and no other event has it: IDOf makes one for a check, a schedule's is
	// "<schedule>-<unix>". It has no blank at either end, no control characters and none that is prescient.Unseen.
	ID string
	// Topic says where it goes: letters, digits and _ . - /, up to MaxTopic of them. Routes of the configuration name the broker.
	Topic string
	// Key is what it is about, such as order/42, up to MaxKey characters, of the same kind: events of one key and topic are published in
	// order. A schedule's is its id.
	Key string
	// GeneratedAt is when it happened, or was due. The zero time is the database's now.
	GeneratedAt time.Time
	// Payload is carried byte for byte, up to MaxPayload of them; nil for none.
	Payload []byte
	// Trace is the trace in which it is published, as the header traceparent of W3C Trace Context; empty, the default, for that of the
	// context. See prescient.InTrace. It goes with each copy of the event to its broker.
	Trace string
}

// IDOf is the id of an event that a check publishes in a slot: a call that is repeated makes the same one, and no other call does, not even
// that of a check which was inserted anew into the same slot. A check that publishes several in one call says which one this is.
func IDOf(job prescient.FutureJob, which ...string) string {
	key := job.Key()
	id := hex.EncodeToString(key[:]) + "-" + strconv.FormatInt(job.NextCheckAt.Unix(), 10) + "-" + strconv.FormatUint(job.Revision, 36)
	return strings.Join(append([]string{id}, which...), "-")
}

var topicPattern = regexp.MustCompile(`^[A-Za-z0-9_./-]+$`)

// Validate returns an error that wraps prescient.ErrInvalid where the outbox does not take an event.
func (e Event) Validate() error {
	err := prescient.ValidLabel("id of an event", e.ID, MaxID)
	if err == nil {
		err = prescient.ValidLabel("key of an event", e.Key, MaxKey)
	}
	if err == nil {
		err = errors.Join(prescient.ValidSeen("id of an event", e.ID), prescient.ValidSeen("key of an event", e.Key))
	}
	if err != nil {
		return fmt.Errorf("%w (topic %.150q)", err, e.Topic)
	}
	switch {
	case len(e.Topic) > MaxTopic || !topicPattern.MatchString(e.Topic):
		return fmt.Errorf("%w: topic %.150q of event %q: 1 to %d letters, digits and _ . - / are allowed", prescient.ErrInvalid, e.Topic, e.ID, MaxTopic)
	case len(e.Payload) > MaxPayload:
		return fmt.Errorf("%w: the payload of event %q has %d bytes; at most %d are allowed", prescient.ErrInvalid, e.ID, len(e.Payload), MaxPayload)
	case !e.GeneratedAt.IsZero() && (e.GeneratedAt.Year() < 1000 || e.GeneratedAt.Year() > 9999):
		return fmt.Errorf("%w: event %q was generated in the year %d; 1000 to 9999 are allowed", prescient.ErrInvalid, e.ID, e.GeneratedAt.Year())
	}
	return prescient.CheckTrace(e.Trace, fmt.Sprintf("event %q", e.ID))
}
