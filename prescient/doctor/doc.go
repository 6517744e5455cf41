// Package doctor looks for what is wrong with an installation. [Examine] reads a bounded number of rows for each thing that it
// looks at, and gives findings that say what to do. Of what it read whole it says that it is ok, of a part which part that was, and of
// what it did not look at who would.
package doctor
