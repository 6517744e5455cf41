// Package watched keeps an eye on slots of which other workers hold buckets. A worker that waits for the end of a slot takes what others give back, for two
// leases. Then the slot is watched: once a second, by one statement for all of them, while others hold buckets.
package watched
