package output

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// OnShard returns a writer for what is printed as JSON of one of several shards of Vitess: each object has its name as the first member, shard.
// It is for JSON of one object a line, as JSON and Lines print it.
func OnShard(to io.Writer, shard string) (io.Writer, error) {
	name, err := json.Marshal(shard)
	if err != nil {
		return nil, fmt.Errorf("printing the name of a shard: %w", err)
	}
	return &shardWriter{to: to, member: append([]byte(`{"shard":`), name...)}, nil
}

type shardWriter struct {
	to     io.Writer
	member []byte // the beginning of an object
	at     place
}

// place is where in a line the writer is.
type place int

const (
	atStart place = iota
	behindBrace
	within
)

// Write implements io.Writer.
func (s *shardWriter) Write(p []byte) (int, error) {
	var b bytes.Buffer
	for _, c := range p {
		switch {
		case s.at == atStart && c == '{':
			b.Write(s.member)
			s.at = behindBrace
			continue
		case s.at == behindBrace && c != '}':
			b.WriteByte(',')
		}
		s.at = within
		if c == '\n' {
			s.at = atStart
		}
		b.WriteByte(c)
	}
	if _, err := s.to.Write(b.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}
