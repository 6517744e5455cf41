// Package evidence reads what the tables of prescient hold at the end of a run: that is one half of what package checker decides by,
// the other being the journal. It also has the server note, while the run lasts, what the tables do not keep: each claim of a
// bucket, and each start of a long run.
package evidence
