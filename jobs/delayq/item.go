package delayq

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"prescient/prescient"
)

// Item is what was delayed, as handle gets it.
type Item struct {
	// ID is what Delay returned: the same in all calls for the same data, and no other's.
	ID string
	// ReadyTime is the time that was asked for, in UTC and microseconds.
	ReadyTime time.Time
	// Data is what was delayed; no bytes where that was nil or empty.
	Data []byte
	// Errors is how many errors in a row handle has returned for it up to now, and LastError the text of the latest.
	Errors    int
	LastError string
}

// MaxData is the longest data, in bytes: what fits into a payload in base64, somewhat less than 3 MiB.
const MaxData = (prescient.MaxPayload - len(before+after)) / 4 * 3

// What stands before and after the data in a payload.
const (
	before = `{"data":"`
	after  = `"}`
)

// payload is how a check carries data.
type payload struct {
	Data *[]byte `json:"data"`
}

// payloadOf returns the payload for some data. The error wraps prescient.ErrInvalid.
func payloadOf(data []byte) (json.RawMessage, error) {
	if len(data) > MaxData {
		return nil, fmt.Errorf("%w: data has %d bytes; at most %d are allowed", prescient.ErrInvalid, len(data), MaxData)
	}
	text := make([]byte, 0, len(before+after)+base64.StdEncoding.EncodedLen(len(data)))
	text = base64.StdEncoding.AppendEncode(append(text, before...), data)
	return append(text, after...), nil
}

// ItemOf returns what was delayed as a check, for a handler of one's own. Its payload is {"data":"…"} in base64, with line breaks
// or without; whatever else it has is passed over. The error says what is wrong with it.
func ItemOf(job prescient.FutureJob) (Item, error) {
	decoded, err := prescient.PayloadOf[payload](job)
	if err != nil {
		return Item{}, fmt.Errorf("delayq %s: %w", job.JobExec, err)
	}
	if decoded.Data == nil {
		return Item{}, fmt.Errorf(`delayq %s: the payload of %s has no data: want {"data":"…"} in base64`, job.JobExec, job.Entity())
	}
	return Item{ID: job.EntityKey, ReadyTime: job.DueAt, Data: *decoded.Data, Errors: job.ErrorCount, LastError: job.LastError}, nil
}
