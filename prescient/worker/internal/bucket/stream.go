package bucket

import (
	"context"

	"prescient/prescient"
	"prescient/prescient/worker/internal/check"
)

// stream reads the rows of a bucket in the order of their keys. A bucket starts with one that all job_execs share; one
// that is slow gets a stream of its own, so that the rest is not held up behind its rows.
type stream struct {
	JobExec     string // empty for the shared stream, which leaves out those that have their own
	next        prescient.Key
	dry         bool
	crowd       *Crowd // of jobExec
	lingers     bool   // its bucket does, for its rows
	waits       bool   // there is something to be read, and no room for it
	limit       int    // rows to be asked for; 0 for a first read
	outstanding int    // rows that were read and not committed
	payload     int    // bytes of theirs, about, with that of their errors
}

// count counts rows in memory, and the bytes of what may be large in them, or takes them off the count.
func (s *stream) count(rows, bytes int) {
	s.outstanding += rows
	s.payload += bytes
	if s.crowd != nil {
		s.crowd.add(rows, bytes)
	}
}

// reads is how far the bucket was read.
type reads struct {
	last        prescient.Key
	streams     []*stream      // the shared one first
	outstanding map[string]int // by job_exec
	seq         uint64         // of the row read last
	reading     *reading       // nil where none is under way
	readNext    int            // the stream to be read next, among those that have room
}

// reading is a read under way: it goes on while the bucket's own goroutine commits.
type reading struct {
	stream *stream
	cancel context.CancelFunc
	done   chan struct{}
	rows   []*check.Answered // once done is closed
	limit  int               // how many were asked for
	probes bool              // whether there are any: they are not to be kept
	size   int               // bytes of their payloads and errors
	cut    bool              // there was more than is held in memory at a time
	err    error
}

// readBytes is how much of payloads and errors a batch has at most, and one row more.
const readBytes = 8 << 20
