// Package watched keeps an eye on slots of which other workers hold buckets. A worker that waits for the end of a slot takes what others give back. After two
// leases the slot is watched, once a second, by one statement for all of them.
package watched
