// Package bucket runs one bucket of a slot, from its first row to its last: it reads rows in the order of their keys, hands
// them to the executor, takes their answers, and has them committed. It bounds what it has in memory, waits for rows that
// somebody else has locked, and makes place for another bucket while it only waits.
package bucket
