// Package rollup sums up history by hour and by day, in the tables stats, stats_bucket and stats_reason, which stay when history is pruned.
//
// An end may be committed long after its ended_at. So an hour is summed 5 minutes after its end, and compared with history by the number of its
// ends after an hour, 6 and 24 hours, and before prune drops it; where it grew it is summed again. A day is made of its hours; after 90
// days of its history, and where a part of that is gone, what comes so late is in no sum.
//
// Whoever has the duty rollup reads history without locks, and writes an hour in one transaction. How many names and reasons an hour tells apart is bounded.
package rollup
