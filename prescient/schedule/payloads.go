package schedule

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"

	"prescient/prescient"
)

// Payloads may have a megabyte each. Where some hundreds of schedules are read, only the short ones come along; of long ones some at a
// time, or, where they are only compared, their hashes.

const (
	// maxShort is how many bytes a short payload has at most. Of 500 they are 2 MB.
	maxShort = 4 << 10
	// maxHeld is how many bytes the long payloads have together that are in memory at a time.
	maxHeld = 16 << 20
	// maxPageBytes is how many bytes the long payloads of a page of a listing have together.
	maxPageBytes = 64 << 20
)

// payloads says what is read of payloads: the bytes, and how many there are.
type payloads string

const (
	noPayload    payloads = "NULL, NULL"
	withPayload  payloads = "payload, LENGTH(payload)"
	shortPayload payloads = "IF(LENGTH(payload) > 4096, NULL, payload), LENGTH(payload)"
	// toCompare has the SHA-256 of long ones.
	toCompare payloads = "IF(LENGTH(payload) > 4096, UNHEX(SHA2(payload, 256)), payload), LENGTH(payload)"
)

// same says whether a schedule, which may have been read by toCompare, has a definition.
func (s Stored) same(as Schedule) bool {
	if s.size > maxShort && len(s.Payload) != s.size {
		if hash := sha256.Sum256(as.Payload); len(as.Payload) != s.size || !bytes.Equal(hash[:], s.Payload) {
			return false
		}
		s.Payload, as.Payload = nil, nil
	}
	return s.Schedule.same(as)
}

// hasLong says whether a schedule has a long payload, which is not read yet.
func (s Stored) hasLong() bool { return s.size > maxShort && s.Payload == nil }

// fill reads the long payloads of schedules that were read by shortPayload, from the first on, up to some bytes, and returns those that
// have theirs by now: at least one. What was deleted meanwhile is left out.
func (s *Schedules) fill(ctx context.Context, db prescient.DB, some []Stored, most int) (filled []Stored, rest []Stored, err error) {
	n := 0
	var ids []string
	for ; n < len(some); n++ {
		if !some[n].hasLong() {
			continue
		}
		if most -= some[n].size; most < 0 && n > 0 {
			break
		}
		ids = append(ids, some[n].ID)
	}
	filled, rest = some[:n], some[n:]
	if len(ids) == 0 {
		return filled, rest, nil
	}
	long, err := s.find(ctx, db, ids, withPayload, false)
	if err != nil {
		return nil, nil, err
	}
	by := make(map[string]Stored, len(long))
	for _, one := range long {
		by[one.ID] = one
	}
	filled = slices.Clone(filled)
	for i, one := range filled {
		if one.hasLong() {
			filled[i] = by[one.ID]
		}
	}
	return slices.DeleteFunc(filled, func(one Stored) bool { return one.ID == "" }), rest, nil
}

// Find returns those of some schedules that are there, without their payloads, in the order of their ids.
func (s *Schedules) Find(ctx context.Context, db prescient.DB, ids ...string) (found []Stored, err error) {
	err = s.eachChunk(ids, func(some []string) error {
		part, err := s.find(ctx, db, some, noPayload, false)
		found = append(found, part...)
		return err
	})
	return found, err
}

// Each calls do for those of some schedules that are there, with their payloads, in the order of their ids: about 16 MB of payloads
// are in memory at a time. It ends with the first error, which may be that of do.
func (s *Schedules) Each(ctx context.Context, db prescient.DB, ids []string, do func(one Stored) error) error {
	return s.eachChunk(ids, func(some []string) error {
		rest, err := s.find(ctx, db, some, shortPayload, false)
		for err == nil && len(rest) > 0 {
			var filled []Stored
			if filled, rest, err = s.fill(ctx, db, rest, maxHeld); err != nil {
				return err
			}
			for _, one := range filled {
				if err := do(one); err != nil {
					return err
				}
			}
		}
		return err
	})
}

// eachChunk parts ids, each once and in their order, for statements.
func (s *Schedules) eachChunk(ids []string, do func(some []string) error) error {
	for _, id := range ids {
		if err := validID(id); err != nil {
			return err
		}
	}
	for some := range slices.Chunk(slices.Compact(slices.Sorted(slices.Values(ids))), idsPerStatement) {
		if err := do(some); err != nil {
			return err
		}
	}
	return nil
}
