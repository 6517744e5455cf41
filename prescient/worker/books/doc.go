// Package books is what a slot run did: the counts of its outcomes, its figures, and what went wrong with rows.
package books
