// Package listing reads pages of pending rows and of history: by one statement where an index serves all that is asked for, else one stretch of the
// index after the other, so that a value that nobody has costs no walk over the whole table.
package listing
