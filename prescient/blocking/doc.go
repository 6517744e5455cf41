// Package blocking finds which sessions wait for others, at the tables of an installation or anywhere: each chain, from its root, which waits
// for nobody. It reads what the server notes of locks, and changes nothing. Of overdue rows it finds some that a session has locked by
// waiting for them, for a second at most. A session is named by the number that KILL takes.
package blocking
