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

	"prescient/prescient/longrun"
)

// maxSpans bounds how many gaps are kept in memory.
const maxSpans = 200_000

// errFull is the error of a position with more gaps than a checkpoint can hold.
var errFull = errors.New("more gaps than a checkpoint can hold")

// checkpoint is a position as it is kept: JSON, for who looks at it, with the gaps as differences, compressed, of which a hundred thousand fit
// where they follow a pattern, and twenty thousand where they do not.
type checkpoint struct {
	Version int         `json:"v"`
	Begin   uint64      `json:"begin"`
	High    uint64      `json:"high"`
	Passed  uint64      `json:"passed"`
	Late    uint64      `json:"late"`
	Marks   [][2]int64  `json:"marks,omitempty"` // up to which id, and microseconds since 1970
	Over    [][2]uint64 `json:"over,omitempty"`
	Gaps    int         `json:"gaps,omitempty"`
	Packed  []byte      `json:"packed,omitempty"`
}

const version = 1

// encode returns the position as a checkpoint. The error is errFull.
func (p *position) encode() ([]byte, error) {
	if len(p.open) > maxSpans {
		return nil, errFull
	}
	c := checkpoint{Version: version, Begin: p.begin, High: p.high, Passed: p.passed, Late: p.late, Gaps: len(p.open)}
	for _, m := range p.marks {
		c.Marks = append(c.Marks, [2]int64{int64(m.upTo), m.at.UnixMicro()})
	}
	for _, s := range p.over {
		c.Over = append(c.Over, [2]uint64{s.first, s.last})
	}
	if len(p.open) > 0 {
		c.Packed = pack(p.open, p.begin)
	}
	text, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	if len(text) > longrun.MaxCheckpoint {
		return nil, errFull
	}
	return text, nil
}

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

// decode reads a checkpoint.
func decode(text []byte) (p position, err error) {
	var c checkpoint
	if err := json.Unmarshal(text, &c); err != nil {
		return p, fmt.Errorf("the checkpoint is not one of a change queue: %w", err)
	}
	if c.Version != version || c.Gaps < 0 || c.Gaps > maxSpans {
		return p, fmt.Errorf("the checkpoint is of version %d, with %d gaps; this program knows version %d, and %d gaps at most", c.Version, c.Gaps, version, maxSpans)
	}
	p = position{begin: c.Begin, high: c.High, passed: c.Passed, late: c.Late}
	for _, m := range c.Marks {
		p.marks = append(p.marks, mark{uint64(m[0]), time.UnixMicro(m[1]).UTC()})
	}
	for _, s := range c.Over {
		p.over = append(p.over, span{s[0], s[1]})
	}
	p.open, err = unpack(c.Packed, c.Gaps, c.Begin)
	return p, err
}

// unpack is the inverse of pack.
func unpack(packed []byte, n int, from uint64) (spans []span, err error) {
	r := flate.NewReader(bytes.NewReader(packed))
	plain, err := io.ReadAll(io.LimitReader(r, int64(n)*2*binary.MaxVarintLen64))
	if n > 0 && err != nil {
		return nil, fmt.Errorf("the gaps of the checkpoint: %w", err)
	}
	for range n {
		distance, a := binary.Uvarint(plain)
		length, b := binary.Uvarint(plain[max(a, 0):])
		if a <= 0 || b <= 0 {
			return nil, errors.New("the gaps of the checkpoint break off")
		}
		plain = plain[a+b:]
		s := span{from + distance, from + distance + length}
		spans, from = append(spans, s), s.last
	}
	return spans, nil
}
