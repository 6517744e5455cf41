// Package bucket runs one bucket of a slot: it reads rows in the order of their keys, hands them to the executor, and has their answers committed. It
// bounds what it has in memory, waits for locked rows, and makes place for another bucket while it only waits.
package bucket
