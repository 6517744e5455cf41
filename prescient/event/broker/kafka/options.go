package kafka

import (
	"crypto/tls"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"prescient/prescient/event/broker"
)

const (
	encrypted = "kafka+tls"

	maxLinger       = time.Second
	defaultMaxBatch = 1_000_012

	dialTime = 5 * time.Second
	// A topic that is looked up anew this often is known to be missing after about a second.
	lookUpTime = 250 * time.Millisecond

	// What may wait in memory while Kafka is away. A forwarder has less under way; records that it gave up wait on beside it.
	maxBuffered      = 4096
	maxBufferedBytes = 64 << 20
)

// parse reads what the URL says.
func parse(o broker.Options) ([]kgo.Opt, error) {
	address, err := broker.ParseAddress(o.URL, "kafka", encrypted)
	if err != nil {
		return nil, err
	}
	if strings.Trim(address.Path, "/") != "" {
		return nil, errors.New("the URL has a path, which means nothing here")
	}
	settings, err := address.Settings("sasl", "linger", "max_batch")
	if err != nil {
		return nil, err
	}
	linger := time.Duration(0)
	if text, given := settings["linger"]; given {
		if linger, err = time.ParseDuration(text); err != nil || linger < 0 || linger > maxLinger {
			return nil, fmt.Errorf("the parameter linger is not a duration within 0 to %s", maxLinger)
		}
	}
	maxBatch := int64(defaultMaxBatch)
	if text, given := settings["max_batch"]; given {
		if maxBatch, err = strconv.ParseInt(text, 10, 32); err != nil || maxBatch < 1024 || maxBatch > maxBufferedBytes {
			return nil, fmt.Errorf("the parameter max_batch is not within 1024 to %d", maxBufferedBytes)
		}
	}
	list := []kgo.Opt{
		kgo.SeedBrokers(address.Hosts...),
		kgo.ClientID("prescient"),
		kgo.WithLogger(logger{o.Log}),
		kgo.DialTimeout(dialTime),
		kgo.MetadataMinAge(lookUpTime),
		kgo.RequiredAcks(kgo.AllISRAcks()), // the producer is idempotent by default
		kgo.ProducerLinger(linger),
		kgo.ProducerBatchMaxBytes(int32(min(maxBatch, math.MaxInt32))),
		kgo.MaxBufferedRecords(maxBuffered),
		kgo.MaxBufferedBytes(maxBufferedBytes),
	}
	if address.Scheme == encrypted {
		list = append(list, kgo.DialTLSConfig(&tls.Config{MinVersion: tls.VersionTLS12}))
	}
	mechanism, err := mechanismOf(address, settings["sasl"])
	if err != nil {
		return nil, err
	}
	if mechanism != nil {
		list = append(list, kgo.SASL(mechanism))
	}
	return list, nil
}

// mechanismOf returns how a client authenticates, nil where the URL has no user.
func mechanismOf(address broker.Address, name string) (sasl.Mechanism, error) {
	password, with := address.Password()
	switch {
	case address.User == nil && name == "":
		return nil, nil
	case !with:
		return nil, errors.New("the URL has no user and password for SASL")
	}
	user := address.User.Username()
	switch name {
	case "", "plain":
		return plain.Auth{User: user, Pass: password}.AsMechanism(), nil
	case "scram-sha-256":
		return scram.Auth{User: user, Pass: password}.AsSha256Mechanism(), nil
	case "scram-sha-512":
		return scram.Auth{User: user, Pass: password}.AsSha512Mechanism(), nil
	}
	return nil, errors.New("the parameter sasl is not plain, scram-sha-256 or scram-sha-512")
}

// logger hands on what the client has to warn of.
type logger struct{ log zerolog.Logger }

// Level implements kgo.Logger.
func (logger) Level() kgo.LogLevel { return kgo.LogLevelWarn }

// Log implements kgo.Logger.
func (l logger) Log(_ kgo.LogLevel, message string, fields ...any) {
	l.log.Warn().Fields(fields).Str("client", "kafka").Msg(message)
}
