// Package evidence reads what prescient's tables hold at the end of a run. It also has the server note what they do not keep: each claim
// of a bucket, and each start of a long run.
package evidence
