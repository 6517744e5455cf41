package prescient

import (
	"fmt"
	"slices"
	"time"
)

// rangeStatements are those of a commit by ranges, of one range and of several.
func (f *filled) rangeStatements(some []FutureJob, slot time.Time, name string) (list []explained) {
	n := len(some)
	for _, ranges := range []int{1, 2, 20} {
		if n < 2*ranges {
			continue
		}
		var spans []span
		for part := range slices.Chunk(some, (n+ranges-1)/ranges) {
			spans = append(spans, span{part[0].Key(), part[len(part)-1].Key(), len(part)})
		}
		list = append(list,
			explained{fmt.Sprintf("slotrun/lock_ranges %d in %d of %s", n, ranges, name), f.w.fill("slotrun/lock_ranges", "{ranges}",
				string(appendRanges(nil, "job_key", spans, false))), []any{slot, n}, map[string]string{"p_future_job": bySlotAndKey}},
			explained{fmt.Sprintf("slotrun/end_ranges %d in %d of %s", n, ranges, name), f.w.fill("slotrun/end_ranges", "{ranges}",
				string(appendRanges(nil, "job.job_key", spans, true))), []any{slot}, map[string]string{"job": bySlotAndKey}})
	}
	return list
}
