package attest

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

// Ends is how history compares with the ledger.
type Ends struct {
	// Compared is false where it was not asked for, or nothing is known of the slots.
	Compared bool `json:"compared"`
	// Whole is false where there was more to read than allowed.
	Whole bool `json:"whole"`
	// Read is how many ends of history were read, Of how many of them are of these slots.
	Read int   `json:"read"`
	Of   int64 `json:"of"`
	// Until is when the last was that may have been read.
	Until time.Time `json:"until,omitzero"`
	// Differ is for how many slots ledger and history differ; Differences are the first of them.
	Differ      int          `json:"differ"`
	Differences []Difference `json:"differences,omitempty"`
}

// Difference is a slot of which ledger and history have different numbers of ends.
type Difference struct {
	Slot    time.Time `json:"slot"`
	Ledger  int64     `json:"ledger"`
	History int64     `json:"history"`
}

// String is the difference for people.
func (d Difference) String() string {
	return fmt.Sprintf("%s: the ledger has %s ends, history %s", stamp(d.Slot), many(d.Ledger), many(d.History))
}

const (
	// differencesShown is how many differences a report has.
	differencesShown = 100
	// mostOutstanding is for how many slots ends may be outstanding at a time: those that were late in an outage, say.
	mostOutstanding = 100_000
)

// balance keeps, by slot, how many ends the ledger has more than history, while both are read in the order of time. A slot that is even takes
// no place.
type balance struct {
	from, to    time.Time // slots that count
	outstanding map[int64]int64
	left        map[int64]bool // are not compared, since they are not finished
}

func newBalance(from, to time.Time) *balance {
	return &balance{from, to, make(map[int64]int64), make(map[int64]bool)}
}

// full says that no more can be kept.
func (b *balance) full() bool { return len(b.outstanding)+len(b.left) > mostOutstanding }

func (b *balance) counts(slot time.Time) bool { return !slot.Before(b.from) && slot.Before(b.to) }

// book takes what the ledger has of a slot; settled says that it is finished.
func (b *balance) book(slot time.Time, ended int64, settled bool) {
	switch {
	case !b.counts(slot):
	case !settled:
		b.left[slot.Unix()] = true
		delete(b.outstanding, slot.Unix())
	default:
		b.add(slot, ended)
	}
}

// end takes an end that history has, and says whether it is of one of the slots.
func (b *balance) end(slot time.Time) bool {
	if !b.counts(slot) {
		return false
	}
	if !b.left[slot.Unix()] {
		b.add(slot, -1)
	}
	return true
}

func (b *balance) add(slot time.Time, more int64) {
	at := slot.Unix()
	if b.outstanding[at] += more; b.outstanding[at] == 0 {
		delete(b.outstanding, at)
	}
}

// uneven are the slots of which the numbers differ, in their order. Where history was not read whole, what it lacks may be in the rest.
func (b *balance) uneven(whole bool) (list []time.Time) {
	for _, at := range slices.Sorted(maps.Keys(b.outstanding)) {
		if whole || b.outstanding[at] < 0 {
			list = append(list, time.Unix(at, 0).UTC())
		}
	}
	return list
}
