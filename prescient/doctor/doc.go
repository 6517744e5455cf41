// Package doctor looks for what is wrong with an installation. [Examine] reads a bounded number of rows for each thing, and its findings say what
// to do, and which part it did not read.
package doctor
