package broker

import (
	"context"
	"errors"
	"fmt"

	"github.com/rs/zerolog"
)

// Broker takes events. It is for concurrent use: a forwarder has up to some hundreds of them under way, no two of one key.
type Broker interface {
	// Publish returns nil once the broker has acknowledged that it has the message, and will keep it as long as it keeps any.
	//
	// An error that wraps ErrRefused says that the broker will never take this message. After any other error it is published again
	// later, since nobody knows whether it arrived. Publish returns soon after ctx ends.
	Publish(ctx context.Context, m Message) error
	// Close gives back what Open took. What is under way may fail.
	Close() error
}

// ErrRefused is wrapped by the error of a message that the broker refuses for good: it is too large, or there is no such topic.
var ErrRefused = errors.New("refused for good")

// Refused returns an error that wraps ErrRefused and another one.
func Refused(err error) error { return fmt.Errorf("%w: %w", ErrRefused, err) }

// Options are what a route of the configuration says of its broker.
type Options struct {
	// URL names the broker, and has in its query what else is to be known of it; the package of each broker says what it
	// understands. Errors of Open must not show its password.
	URL string
	// Secret signs what is published, where the broker can do that; nil for nothing.
	Secret []byte
	// Log takes what a broker has to say beside its errors. The zero value is silent.
	Log zerolog.Logger
}

// Open returns a broker. It need not be reachable: then Publish fails until it is. An error says what is wrong with the options.
type Open func(ctx context.Context, o Options) (Broker, error)
