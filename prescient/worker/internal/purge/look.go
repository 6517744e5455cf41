package purge

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"time"

	"prescient/prescient/internal/store"
)

// Seen is what one look found.
type Seen struct {
	connection uint64        // that asked
	Behind     int           // transactions that are to be purged, of everybody: the length of the history list
	Own        int           // commits of the slot until now, by all its workers: each of them was added to that list
	Oldest     time.Duration // for how long the oldest transaction of somebody else is open
}

// others is how long the list would be without what the slot's workers committed. What it had before is purged meanwhile.
func (s Seen) others() int { return s.Behind - s.Own }

// Asked is a pool or a connection of it.
type Asked interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// lookEvery is how often the server is looked at while the snapshot is open, and how long a look may take.
const lookEvery = time.Second

// Look looks at the server. The transaction of one connection is left out, which is that of the snapshot; 0 for none.
func (p *Purge) Look(ctx context.Context, on Asked, snapshot uint64, slot time.Time) (seen Seen, err error) {
	ctx, cancel := context.WithTimeout(ctx, lookEvery)
	defer cancel()
	if snapshot == 0 { // which is the connection of a prepared transaction
		snapshot = math.MaxInt64
	}
	var seconds int64
	err = store.UntilShown(ctx, func(ctx context.Context) error {
		row := on.QueryRowContext(ctx, p.Tables.Stmt.Get("slotrun/purge"), snapshot, slot)
		return row.Scan(&seen.connection, &seen.Behind, &seconds, &seen.Own)
	})
	if err != nil {
		return seen, fmt.Errorf("looking at the server's purge: %w", err)
	}
	seen.Oldest = time.Duration(seconds) * time.Second
	return seen, nil
}
