package commit

import (
	"errors"

	"prescient/prescient/internal/errno"
)

// Refusal is why an attempt at a commit came to nothing.
type Refusal uint8

const (
	// Staying does not pass by itself, or has not for as long as statements are sent again.
	Staying Refusal = iota
	// Passing passes by itself.
	Passing
	// FifthBreak is Passing, or Changed by keys, for the fifth time behind the fence: it may be for one of the rows.
	FifthBreak
	// OtherRows than those that were read are in the ranges.
	OtherRows
	// Changed means that a write hit fewer rows than were locked, or more.
	Changed
	// AtOnce is a lock of somebody else's, met by a statement that waits for none.
	AtOnce
	// Waited is such a lock for which a statement waited in vain. In the dialect plain it is also what a NOWAIT by keys meets.
	Waited
	// RowRefused is what the server refuses to write of a row: at the first time where it is one of many, at the third where it is
	// alone; at once where a foreign key or a trigger keeps it, and where its payload was left out already.
	RowRefused
	// ByChance is RowRefused of a row that is alone, before that: a server has errors that pass and that nobody here knows of.
	ByChance
)

// RefusalOf is what an attempt came to nothing for, by itself: it knows nothing of those before it.
func RefusalOf(err error) Refusal {
	switch {
	case errors.Is(err, errOthers):
		return OtherRows
	case errors.Is(err, errChanged):
		return Changed
	case errors.Is(err, ErrAtOnce):
		return AtOnce
	case errno.Is(err, errno.LockWaitTimeout, errno.NoWait):
		return Waited
	case refusesRow(err):
		return RowRefused
	case errno.Passing(err):
		return Passing
	}
	return Staying
}

// Step is what comes after a refusal.
type Step struct {
	Lock  Lock // by which the next attempts lock; with InParts where they begin, if the bucket has nothing against it
	Then  Then
	Alone Alone // with InParts
}

// Then is how a commit goes on.
type Then uint8

const (
	Ends      Then = iota // not at all: the error ends the run
	InSameTx              // in the same transaction
	InNewTx               // at once, in a new one
	WholeSlot             // the same, and all commits of the slot begin like that from then on
	InParts               // by parts
	AfterWait             // after a wait
)

// Alone is what becomes of a row that cannot be divided.
type Alone uint8

const (
	Later     Alone = iota + 1 // it is tried again later, with its answer
	Stuck                      // the same, and told
	Otherwise                  // something else is written of it
)

// Parts is into how many parts a batch is cut of which a row is in the way of the others. Few steps count, since each try may
// wait a second for a lock.
const Parts = 16

// Next is what a commit does that locked its rows in a way, and was refused. It is a pure function, and the table of the package.
func Next(from Lock, by Refusal) Step {
	switch {
	case from == ByRanges && by == OtherRows:
		return Step{Lock: ByKeys, Then: InSameTx}
	case from == ByRanges && (by == Changed || by == AtOnce):
		return Step{Lock: ByKeys, Then: InNewTx}
	case from == ByKeys && by == AtOnce:
		return Step{Lock: FreeInUnique, Then: InNewTx}
	case from != FreeInUnique && by == Waited:
		return Step{Lock: FreeInUnique, Then: WholeSlot}
	case by == AtOnce, by == Waited:
		return Step{Lock: FreeInUnique, Then: InParts, Alone: Later}
	case by == RowRefused:
		return Step{Lock: ByRanges, Then: InParts, Alone: Otherwise}
	case by == FifthBreak:
		return Step{Lock: ByRanges, Then: InParts, Alone: Stuck}
	case by == Changed, by == Passing, by == ByChance:
		return Step{Lock: from, Then: AfterWait}
	}
	return Step{}
}

// NextTx is Next for a transaction of functions, before it calls them.
func NextTx(from Lock, by Refusal) Step {
	if from == ByRanges && (by == OtherRows || by == AtOnce || by == Waited) {
		// In another transaction: this one may have locked rows that came between, which are not to wait for a call.
		return Step{Lock: ByKeys, Then: InNewTx}
	}
	return Step{}
}
