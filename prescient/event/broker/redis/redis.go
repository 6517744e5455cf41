// Package redis adds events to Redis streams.
//
// The URL is redis://user:password@host:6379/0, or rediss:// where the connection is encrypted. Its query may have
//
//   - maxlen: about how many entries a stream keeps, the newest; default: all of them
//
// and what github.com/redis/go-redis takes there, such as pool_size or skip_verify.
//
// # What is sent
//
// XADD to the stream that has the name of the topic, which is made where it isn't there. The entry has the fields id, key,
// generated_at (RFC 3339, UTC), content_type and payload, the body byte for byte. Headers follow as fields of their names, but
// for those that say what a field has said. Redis does not drop repeats: consumers do, by id.
//
// An event is acknowledged once Redis has added it.
//
// # What an acknowledgement is worth
//
// That the server has the entry in memory; all else is its configuration. These settings have it on disk before, and keep it there:
//
//	appendonly yes
//	appendfsync always
//	maxmemory-policy noeviction
//
// With appendfsync everysec, the default, a crash of the machine loses the last second or two, and without appendonly a restart loses all since
// the last snapshot. A failover loses what the replica did not have yet, whatever the settings are: min-replicas-to-write makes that less.
// The tests and scripts/chaos run with appendfsync always.
//
// # What becomes of the others
//
// Refused for good are an event without a topic, and one whose topic is the name of a key that is no stream (WRONGTYPE).
//
// All else is tried again: no connection, a server that is full (OOM), only read (READONLY), starting (LOADING) or without its cluster
// (CLUSTERDOWN), and a user that may not write.
package redis

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"

	"prescient/prescient/event/broker"
)

// requestTime bounds a command whose caller has given it up, or never would.
const requestTime = 10 * time.Second

// server is where the streams are.
type server struct {
	client *redis.Client
	maxLen int64 // 0 for all
}

// Open returns a broker that adds to streams. It connects when it publishes.
func Open(_ context.Context, o broker.Options) (broker.Broker, error) {
	options, maxLen, err := parse(o.URL)
	if err != nil {
		return nil, fmt.Errorf("redis: %w", err)
	}
	redis.SetLogger(logger{o.Log})
	return &server{client: redis.NewClient(options), maxLen: maxLen}, nil
}

// logger takes what the client says by itself, which else goes to stderr, between the lines of a log that is JSON. The client has one for the
// whole process: that of the broker which was opened last. What matters of it Publish returns.
type logger struct{ log zerolog.Logger }

// Printf is what the client calls.
func (l logger) Printf(_ context.Context, format string, v ...any) {
	l.log.Debug().Str("said", fmt.Sprintf(format, v...)).Msg("the client of Redis")
}

func parse(text string) (options *redis.Options, maxLen int64, err error) {
	address, u, err := broker.ParseOne(text, "redis", "rediss")
	if err != nil {
		return nil, 0, err
	}
	query := address.Query
	if given := query["maxlen"]; given != nil {
		if maxLen, err = strconv.ParseInt(given[0], 10, 64); err != nil || maxLen < 1 || len(given) > 1 {
			return nil, 0, errors.New("the parameter maxlen is not a number from 1 on")
		}
		query.Del("maxlen")
	}
	u.RawQuery = query.Encode()
	options, err = redis.ParseURL(u.String())
	if err != nil {
		return nil, 0, fmt.Errorf("the URL: %w", err)
	}
	options.ContextTimeoutEnabled = true
	options.MaxRetries = -1 // the forwarder tries again; here it would not know of the copies
	options.DialerRetries = 1
	return options, maxLen, nil
}

// Publish implements broker.Broker.
func (s *server) Publish(ctx context.Context, m broker.Message) error {
	if m.Topic == "" {
		return fmt.Errorf("redis: %w", broker.Refused(errors.New("the event has no topic")))
	}
	if err := s.add(ctx, m); err != nil {
		if redis.HasErrorPrefix(err, "WRONGTYPE") {
			err = broker.Refused(err)
		}
		return fmt.Errorf("redis: stream %s: %w", m.Topic, err)
	}
	return nil
}

// add returns when the entry is added, or the context ends: the client sees a deadline while it reads, but no cancellation.
func (s *server) add(ctx context.Context, m broker.Message) error {
	_, err := broker.Within(ctx, "no answer", func() (string, error) {
		ctx, cancel := context.WithTimeout(ctx, requestTime)
		defer cancel()
		return s.client.XAdd(ctx, &redis.XAddArgs{Stream: m.Topic, MaxLen: s.maxLen, Approx: s.maxLen > 0, Values: fields(m)}).Result()
	})
	return err
}

// said are the headers that a field says already.
var said = []string{broker.HeaderID, broker.HeaderTopic, broker.HeaderKey, broker.HeaderGeneratedAt, "Content-Type"}

// fields returns names and values in turn.
func fields(m broker.Message) []any {
	list := []any{
		"id", m.ID,
		"key", m.Key,
		"generated_at", m.GeneratedAt.UTC().Format(time.RFC3339Nano),
		"content_type", m.ContentType,
		"payload", m.Body,
	}
	own := []string{"id", "key", "generated_at", "content_type", "payload"}
	for _, h := range m.Headers {
		same := func(name string) bool { return strings.EqualFold(name, h.Name) }
		if !slices.ContainsFunc(said, same) && !slices.Contains(own, h.Name) {
			list = append(list, h.Name, h.Value)
		}
	}
	return list
}

// Close implements broker.Broker.
func (s *server) Close() error { return s.client.Close() }
