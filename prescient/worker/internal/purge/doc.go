// Package purge has the server's purge wait while a slot is run, for whoever asks for that, and only where it harms nobody.
//
// Purge takes a fifth of the time of a large slot (scripts/bench: ends). It waits for an open snapshot, which there is only while the server keeps up with
// its purge.
package purge
