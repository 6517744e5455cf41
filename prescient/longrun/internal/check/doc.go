// Package check is the check of a long run in the transaction that starts the run or writes its end: read without a lock, locked by its primary key,
// moved or ended.
package check
