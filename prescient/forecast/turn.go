package forecast

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	text "prescient/sql"
)

// turn is a place for a forecast. Each is written in another, and the newest counts: whoever has the rows of one locked in an open transaction, as
// everybody may that reads them, holds up none of the others. Locks of a whole turn reach into the ones beside it in the index.
type turn int

const (
	turns = 5
	// apart is how far from each other two are that follow: no neighbours.
	apart = 2
	// turnTries is how many are tried, each for as long as a statement waits for a lock.
	turnTries = 4
)

// next is the turn after this.
func (t turn) next() turn { return (t + apart) % turns }

// grain is the name that a turn's slots or days have in the tables: those of the first have none of their own, as before there were turns.
func (t turn) grain(g Grain) string {
	if t == 0 {
		return string(g)
	}
	return fmt.Sprint(g, int(t))
}

// newestTurn is the turn of the forecast that counts, with when that was made and how old it is; ErrNone where there is none. One that is from the
// future was made before the clock was set back, and counts where there is no other.
func newestTurn(ctx context.Context, db prescient.DB, statements text.Statements) (newest turn, madeAt time.Time, age time.Duration, err error) {
	type row struct {
		grain  string
		madeAt time.Time
		age    time.Duration
	}
	const statement = "forecast/turns"
	rows, err := store.Rows(ctx, db, statement, statements.Get(statement), func(r *row) []any { return []any{&r.grain, &r.madeAt, store.Micros(&r.age)} })
	if err != nil {
		return 0, madeAt, 0, err
	}
	if len(rows) == 0 {
		return 0, madeAt, 0, ErrNone
	}
	best := slices.MinFunc(rows, func(a, b row) int {
		if (a.age < 0) != (b.age < 0) {
			return cmp.Compare(b.age, a.age)
		}
		return cmp.Compare(a.age.Abs(), b.age.Abs())
	})
	for newest.grain(OfSlot) != best.grain && newest < turns-1 {
		newest++
	}
	return newest, best.madeAt, best.age, nil
}
