package bucket

// split gives the job_exec that fills the shared stream one of its own, from where that stream is.
func (b *Bucket) split() {
	shared := b.streams[0]
	if shared.dry || b.careful || b.hasRoom(shared) {
		return
	}
	most := ""
	for name, n := range b.outstanding {
		if b.streamOf(name) == shared && n > b.outstanding[most] {
			most = name
		}
	}
	if most != "" {
		b.ownStream(most)
	}
}

// ownStream gives a job_exec that has rows in the shared stream one of its own.
func (b *Bucket) ownStream(name string) *stream {
	shared := b.streams[0]
	own := &stream{JobExec: name, crowd: b.Shared.Crowds[name], next: shared.next, limit: shared.limit}
	rows := b.outstanding[name]
	bytes := shared.payload * rows / shared.outstanding
	own.count(rows, bytes)
	shared.count(-rows, -bytes)
	b.streams = append(b.streams, own)
	return own
}

// hasRoom says whether the next rows of a stream may be read. Rows that are caught up leave half of the room to what is
// due now.
func (b *Bucket) hasRoom(s *stream) bool {
	if s.outstanding > 0 && (s.outstanding+b.batch > b.window || s.payload >= readBytes) {
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
