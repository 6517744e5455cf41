package page

import (
	"fmt"
	"strings"

	"prescient/prescient/worker"
)

// The names of cases that the page compares by; those that compare write them.
const (
	RiverReady     = "River on Postgres, made available before"
	RiverScheduled = "River on Postgres, scheduled"
	AmongPending   = ", more pending"
	Near           = ", 1ms away"

	OrdersEach  = "prescient, jobs/orders, one query a job"
	OrdersBatch = "prescient, jobs/orders, one IN a batch"
	BareEach    = "prescient, one bare query a job"
	BareBatch   = "prescient, one bare IN a batch"

	NoGuest = "nothing runs"
)

// What an app does beside a guest.
const (
	Plain  = "plain"
	Cancel = "cancel"
)

// P99 is the figure of what it takes in 99 of 100 cases.
func P99(what string) string { return what + " ms p99" }

// GuestName is the case of a slot run at a pace, by so many workers.
func GuestName(pace string, workers int) string {
	return fmt.Sprintf("prescient, %s pace, %d worker%s", pace, workers, map[bool]string{true: "s"}[workers > 1])
}

// LateGuestName is the case of a slot that is swept at a pace.
func LateGuestName(pace string) string { return fmt.Sprintf("prescient, %s pace, late", pace) }

// CommitRows is how many rows a slot run commits together by default.
const CommitRows = worker.DefaultBatch / 2

// FloorName is the case of the floor on so many connections.
func FloorName(connections int) string {
	return fmt.Sprintf("SQL only, %d connection%s", connections, map[bool]string{true: "s"}[connections > 1])
}

// FloorCommitsName is the case of the floor in commits as large as a slot run's.
var FloorCommitsName = fmt.Sprintf("%s, commits of %d rows", FloorName(2), CommitRows)

// FloorQueueName is the case of the queue table on so many connections.
func FloorQueueName(connections int) string {
	if connections == 1 {
		return "SKIP LOCKED queue, 1 connection"
	}
	return "SKIP LOCKED queue, 8 connections"
}

// ByHandName is the case of a transaction for each job, on so many connections.
func ByHandName(connections int) string {
	return "one transaction a job by hand, " + strings.TrimPrefix(FloorName(connections), "SQL only, ")
}

// AsynqName is the case of a setting of Redis.
func AsynqName(fsync string) string { return "Asynq on Redis, fsync " + fsync }

// ReadingRows and QueueRows are how many rows a transaction of those has.
var (
	ReadingRows = []int{CommitRows, 4 * CommitRows} // as many as a commit of a slot run by default, and alone on its server
	QueueRows   = []int{100, 1000}
)

// ReadingName is the case of reading each row and ending what was read, so many in a transaction.
func ReadingName(rows int) string { return fmt.Sprintf("SQL only, %d rows are read, then ended", rows) }

// QueueBatchName is the case of a queue table of which so many rows are claimed and finished in a transaction.
func QueueBatchName(rows int) string {
	return fmt.Sprintf("SKIP LOCKED queue, %d rows a transaction", rows)
}
