// Package purge has the server's purge wait while a slot is run, for whoever asks for that, and only where it harms nobody.
//
// The purge of deleted rows beside a large slot takes a fifth of its time (scripts/bench: ends). An open snapshot has it wait, and everybody's rows stay
// until then. So there is none where the server is behind with its purge, and it ends as soon as the server comes to be.
package purge
