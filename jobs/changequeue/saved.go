package changequeue

import (
	"bytes"
	"compress/flate"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
)

// maxSpans bounds how many gaps are kept in memory, 16 bytes each, and maxText how many bytes a position has that is saved. With more
// the queue says so, and waits.
const (
	maxSpans = 200_000
	maxText  = 512 << 10
)

// errFull is the error of a position with more gaps than are kept.
var errFull = errors.New("more gaps than a position can hold")

// written is a position as it is kept: JSON, for who looks at it, with the gaps as differences, compressed. What was passed over
// stands beside it, since it changes less often.
type written struct {
	Version int         `json:"v"`
	Begin   uint64      `json:"begin"`
	High    uint64      `json:"high"`
	Passed  uint64      `json:"passed"`
	Late    uint64      `json:"late"`
	Lost    uint64      `json:"lost,omitempty"`
	Marks   [][2]int64  `json:"marks,omitempty"` // up to which id, and microseconds since 1970
	Over    [][2]uint64 `json:"over,omitempty"`  // of version 1
	Watched int         `json:"watched,omitempty"`
	Gaps    int         `json:"gaps,omitempty"`
	Packed  []byte      `json:"packed,omitempty"`
}

// Version 1 stood in the checkpoint of the run, and had 100 spans that were passed over.
const version = 2

// encode returns the position as it is kept. The error is errFull.
func (p *position) encode() ([]byte, error) {
	if len(p.open) > maxSpans {
		return nil, errFull
	}
	c := written{Version: version, Begin: p.begin, High: p.high, Passed: p.passed, Late: p.late, Lost: p.lost, Watched: len(p.over), Gaps: len(p.open)}
	for _, m := range p.marks {
		c.Marks = append(c.Marks, [2]int64{int64(m.upTo), m.at.UnixMicro()})
	}
	if len(p.open) > 0 {
		c.Packed = pack(p.open, p.begin)
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	if len(text) > maxText {
		return nil, errFull
	}
	return text, nil
}

// passedOver are the spans that were passed over, as they are kept beside the position.
func (p *position) passedOver() []byte { return pack(p.over, 0) }

// pack writes spans as the distances between their ends, from an id on.
func pack(spans []span, from uint64) []byte {
	var plain []byte
	for _, s := range spans {
		plain = binary.AppendUvarint(plain, s.first-from)
		plain = binary.AppendUvarint(plain, s.last-s.first)
		from = s.last
	}
	var packed bytes.Buffer
	w, err := flate.NewWriter(&packed, flate.BestSpeed)
	if err == nil {
		_, err = w.Write(plain)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		panic(fmt.Errorf("changequeue: compressing in memory: %w", err)) // it has no reason to fail
	}
	return packed.Bytes()
}

// isNote says whether a checkpoint is the note that a run leaves there: the position stands elsewhere.
func isNote(checkpoint []byte) bool {
	var c written
	return json.Unmarshal(checkpoint, &c) == nil && c.Version == version
}

// note is the checkpoint of a run, for who looks at it. A program that knows version 1 alone refuses it.
func (p *position) note() []byte { return fmt.Appendf(nil, `{"v":%d,"high":%d}`, version, p.high) }

// decode reads a position, with what was passed over, or a checkpoint of version 1.
func decode(text, passed []byte) (p position, err error) {
	var c written
	if err := json.Unmarshal(text, &c); err != nil {
		return p, fmt.Errorf("the position is not one of a change queue: %w", err)
	}
	if c.Version < 1 || c.Version > version || c.Gaps < 0 || c.Gaps > maxSpans || c.Watched < 0 || c.Watched > watched {
		return p, fmt.Errorf("the position is of version %d, with %d gaps, %d passed; this program knows version %d, and %d gaps at most",
			c.Version, c.Gaps, c.Watched, version, maxSpans)
	}
	p = position{begin: c.Begin, high: c.High, passed: c.Passed, late: c.Late, lost: c.Lost}
	for _, m := range c.Marks {
		p.marks = append(p.marks, mark{uint64(m[0]), time.UnixMicro(m[1]).UTC()})
	}
	if p.open, err = unpack(c.Packed, c.Gaps, c.Begin); err != nil {
		return p, err
	}
	if c.Version == 1 {
		for _, s := range c.Over {
			p.over = append(p.over, span{s[0], s[1]})
		}
		return p, nil
	}
	p.over, err = unpack(passed, c.Watched, 0)
	return p, err
}

// unpack is the inverse of pack.
func unpack(packed []byte, n int, from uint64) (spans []span, err error) {
	r := flate.NewReader(bytes.NewReader(packed))
	plain, err := io.ReadAll(io.LimitReader(r, int64(n)*2*binary.MaxVarintLen64))
	if n > 0 && err != nil {
		return nil, fmt.Errorf("the gaps of the position: %w", err)
	}
	for range n {
		distance, a := binary.Uvarint(plain)
		length, b := binary.Uvarint(plain[max(a, 0):])
		if a <= 0 || b <= 0 {
			return nil, errors.New("the gaps of the position break off")
		}
		plain = plain[a+b:]
		s := span{from + distance, from + distance + length}
		spans, from = append(spans, s), s.last
	}
	return spans, nil
}
