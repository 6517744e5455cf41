// Package listing reads pages of pending rows and of history. Where an index serves all that is asked for, a page is one statement. Other
// rows are looked for, one stretch of the index after the other, so that a value that nobody has does not cost a walk over the whole
// table.
package listing
