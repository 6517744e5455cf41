// Package doctor looks for what is wrong with an installation. [Examine] reads a bounded number of rows for each thing that it looks at. Its
// findings say what to do, and of what it did not read whole, which part it read or who would.
package doctor
