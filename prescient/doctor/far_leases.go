package doctor

import (
	"context"
	"fmt"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/store"
	"prescient/slots"
)

// examineFarLeases looks for leases that end further ahead than any is taken for: whoever left them did so before the clock of
// the database was set back. They keep nobody from their buckets.
func (d *doctor) examineFarLeases(ctx context.Context) ([]Finding, error) {
	var far []store.Leased
	if err := d.db.SelectContext(ctx, &far, d.tables.Stmt.Get("operate/far_leases"), ledgerProbe, 100); err != nil {
		return nil, err
	}
	if len(far) == 0 {
		return []Finding{fine("leases.far", "no lease ends further ahead than leases do")}, nil
	}
	l := far[0]
	return []Finding{warn("leases.far", fmt.Sprintf("%d leases end more than %s ahead, which none is taken for; the first is that of worker %s on bucket %d of slot %s, which ends in %s: the clock of the database was set back since",
		len(far), prescient.MaxLease, l.Worker, l.Bucket, slots.Stamp(l.Slot), (time.Duration(l.HeldMicros)*time.Microsecond).Round(time.Second)),
		"see that the clock of the database is right; the leases are not honoured: where rows are left, sweep takes the buckets over")}, nil
}
