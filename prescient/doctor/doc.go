// Package doctor looks for what is wrong with an installation. [Examine] reads a bounded number of rows for each thing that it
// looks at, and gives findings that say what to do.
package doctor
