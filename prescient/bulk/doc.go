// Package bulk does one thing to all checks that a filter matches: it cancels, moves, retries or requeues them, or pauses their job_execs.
//
// [Bulk.Preview] comes first. It counts what matches, shows a few, and gives a token that begins the deed
// within 15 minutes, once. The deed is a row of bulk_run; whoever has its lease works it off by [Bulk.Work], a transaction of 500 checks after the
// other, with as long a rest as each took. Its cursor commits with each; when the process dies another goes on there once the lease has lapsed.
//
// # What the deed takes
//
// It takes what matches when it comes to a check, and was inserted before the preview (by inserted_at). A check that somebody has locked, or that changes
// between the look and the lock, is left to the next pass; after [MaxPasses] those that are left are counted. Nothing is done twice to a check. One that
// somebody moves to an earlier slot, which the deed has passed, is missed. Checks of schedules have commands of their own.
//
// A check that cannot be moved so far, by its job_exec's horizon, is counted as refused. A deed leaves one entry in the audit, with filter and counts; the
// keys of its checks are in bulk_check.
package bulk
