// Package watched keeps an eye on slots of which other workers hold buckets.
//
// Buckets that a worker gives back when it stops are there for any other. One that waits for the end of a slot takes them, and does so
// for two leases. A slot that takes longer is watched: once a second, by one statement for all of them, while others hold buckets of
// theirs. Where none is held nothing is sent.
package watched
