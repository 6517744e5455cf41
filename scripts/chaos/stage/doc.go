// Package stage plays one scenario on a database of its own: an app inserts, cancels, moves and replaces checks; several
// workers, processes of the real command, run them; one kind of fault, or all of them mixed, goes on for a while; then the
// faults end, everything that is due is drained, and package checker reads the journal and the tables and decides. What
// happens follows from a seed as far as processes and networks let it: the same seed asks for the same rows and breaks the
// same things in the same order.
package stage
