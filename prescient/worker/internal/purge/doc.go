// Package purge has the server's purge wait while a slot is run, for whoever asks for that, and only where it harms nobody.
//
// While a slot run deletes rows, the server's purge removes those that others can see no more from the table and its
// indexes, on the same processors and pages: a fifth of the time that a large slot takes (scripts/bench: ends). An open
// snapshot has it wait for the run's end, when there is time for it. Everybody's rows stay until then, and what else runs on the
// server walks over them. So there is no snapshot where the server is behind with its purge anyway, and it ends as soon as the
// server comes to be.
package purge
