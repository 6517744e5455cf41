package sql

import "time"

// PartitionSpan is how much time a partition of history holds: a week, from Monday, UTC.
const PartitionSpan = 7 * 24 * time.Hour
