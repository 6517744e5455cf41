package bucket

import (
	"context"

	"prescient/prescient"
	"prescient/prescient/worker/internal/check"
)

// Stream reads the rows of a bucket in the order of their keys. A bucket starts with one that all job_execs share; one
// that is slow gets a stream of its own, so that the rest is not held up behind its rows.
type Stream struct {
	JobExec     string // empty for the shared stream, which leaves out those that have their own
	next        prescient.Key
	dry         bool
	crowd       *Crowd // of jobExec
	lingers     bool   // its bucket does, for its rows
	waits       bool   // there is something to be read, and no room for it
	limit       int    // rows to be asked for; 0 for a first read
	Outstanding int    // rows that were read and not committed
	payload     int    // bytes of theirs, about, with that of their errors
}

// count counts rows in memory, and the bytes of what may be large in them, or takes them off the count.
func (s *Stream) count(rows, bytes int) {
	s.Outstanding += rows
	s.payload += bytes
	if s.crowd != nil {
		s.crowd.add(rows, bytes)
	}
}

// Reads is how far the bucket was read.
type Reads struct {
	Last        prescient.Key
	Streams     []*Stream      // the shared one first
	Outstanding map[string]int // by job_exec
	seq         uint64         // of the row read last
	reading     *reading       // nil where none is under way
	readNext    int            // the stream to be read next, among those that have room
}

// reading is a read under way: it goes on while the bucket's own goroutine commits.
type reading struct {
	stream *Stream
	cancel context.CancelFunc
	done   chan struct{}
	rows   []*check.Answered // once done is closed
	limit  int               // how many were asked for
	look   bool              // whether there are any: they are not to be kept
	size   int               // bytes of their payloads and errors
	cut    bool              // there was more than is held in memory at a time
	err    error
}

// split gives the job_exec that fills the shared stream one of its own, from where that stream is.
func (b *Bucket) split() {
	shared := b.Streams[0]
	if shared.dry || b.careful || b.hasRoom(shared) {
		return
	}
	most := ""
	for name, n := range b.Outstanding {
		if b.streamOf(name) == shared && n > b.Outstanding[most] {
			most = name
		}
	}
	if most != "" {
		b.ownStream(most)
	}
}

// ownStream gives a job_exec that has rows in the shared stream one of its own.
func (b *Bucket) ownStream(name string) *Stream {
	shared := b.Streams[0]
	own := &Stream{JobExec: name, crowd: b.Shared.Crowds[name], next: shared.next, limit: shared.limit}
	rows := b.Outstanding[name]
	bytes := shared.payload * rows / shared.Outstanding
	own.count(rows, bytes)
	shared.count(-rows, -bytes)
	b.Streams = append(b.Streams, own)
	return own
}

// hasRoom says whether the next rows of a stream may be read. Rows that are caught up leave half of the room to what is
// due now.
func (b *Bucket) hasRoom(s *Stream) bool {
	if s.Outstanding > 0 && (s.Outstanding+b.Batch > b.window || s.payload >= readBytes) {
		return false
	}
	if s.crowd == nil {
		return true
	}
	rows, bytes := b.Shared.Parallel*b.window, b.Shared.Parallel*readBytes
	if b.Background {
		rows, bytes = max(rows/2, 1), max(bytes/2, 1)
	}
	return s.crowd.room(rows, bytes) && (b.lingering || !s.crowd.full(false))
}
