package worker

import (
	"fmt"
	"slices"
	"time"

	"prescient/prescient"
	"prescient/prescient/internal/rig"
	"prescient/prescient/worker/internal/commit"
)

// rangeStatements are those of a commit by ranges, of one range and of several.
func rangeStatements(f *rig.Filled, some []prescient.FutureJob, slot time.Time, name string) (list []rig.Explained) {
	n := len(some)
	for _, ranges := range []int{1, 2, 20} {
		if n < 2*ranges {
			continue
		}
		var spans []commit.Span
		for part := range slices.Chunk(some, (n+ranges-1)/ranges) {
			spans = append(spans, commit.Span{First: part[0].Key(), Last: part[len(part)-1].Key(), N: len(part)})
		}
		list = append(list,
			rig.Explained{Statement: fmt.Sprintf("slotrun/lock_ranges %d in %d of %s", n, ranges, name), Query: f.Tables.Fill("slotrun/lock_ranges", "{ranges}",
				string(commit.AppendRanges(nil, "job_key", spans, false))), Args: []any{slot, n}, Reached: map[string]string{"p_future_job": rig.BySlotAndKey}},
			rig.Explained{Statement: fmt.Sprintf("slotrun/end_ranges %d in %d of %s", n, ranges, name), Query: f.Tables.Fill("slotrun/end_ranges", "{ranges}",
				string(commit.AppendRanges(nil, "job.job_key", spans, true))), Args: []any{slot}, Reached: map[string]string{"job": rig.BySlotAndKey}})
	}
	return list
}
